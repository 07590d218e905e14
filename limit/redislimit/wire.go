package redislimit

import "fmt"

// Wire is what a check of parts sends, for whoever wants to send it by other
// means: the script's source and the words of its EVALSHA.
func Wire(parts ...Part) (source string, words []string, err error) {
	if err := checkParts(parts); err != nil {
		return "", nil, err
	}
	if len(parts) == 0 {
		return "", nil, fmt.Errorf("redislimit: a check of no limits sends nothing")
	}
	script := scriptFor(parts)
	keys, args := encode(nil, storeTime, parts)
	words = []string{"EVALSHA", script.sha, fmt.Sprint(len(keys))}
	words = append(words, keys...)
	for _, a := range args {
		if text, ok := a.(*string); ok {
			a = *text
		}
		words = append(words, fmt.Sprint(a))
	}
	return script.source, words, nil
}
