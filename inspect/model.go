package inspect

// models are the ways to decide that layouts name. Filled in by init, since
// models and what checks layouts refer to each other.
var models map[string]model

func init() {
	models = map[string]model{
		"tat":             {checkTAT, decodeTAT},
		"counter":         {checkCounter, decodeCounter},
		"numbered-window": {checkNumbered, decodeNumbered},
	}
}

func modelNames() []string { return sortedKeys(models) }
