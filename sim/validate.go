package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/profiles"
)

// What a scenario may ask for.
const (
	maxTime     = 365 * 24 * 3600 * Second
	maxCalls    = 1_000_000_000_000
	maxGateways = 1_000_000
	maxRate     = 1_000_000_000_000 // units of a rate's fraction
)

// firstError is the first that is not nil.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func spanWithin(path string, m, least, most Micros) error {
	switch {
	case m < least && least <= 1 && m < 0:
		return &ParamError{path, m.String() + " is negative", "--set " + path + "=1s"}
	case m < least:
		return &ParamError{path, fmt.Sprintf("%v is below %v", m, least), "--set " + path + "=1s"}
	case m > most:
		return &ParamError{path, fmt.Sprintf("%v is longer than %v", m, most), "--set " + path + "=" + min(most, 60*Second).String()}
	}
	return nil
}

func countWithin(path string, n, least, most int64) error {
	switch {
	case n < least:
		return &ParamError{path, fmt.Sprintf("%d is below %d", n, least), fmt.Sprintf("--set %s=%d", path, max(least, 1))}
	case n > most:
		return &ParamError{path, fmt.Sprintf("%d is above %d", n, most), fmt.Sprintf("--set %s=%d", path, most)}
	}
	return nil
}

func rateWithin(path string, r Rate) error {
	switch {
	case r.Units <= 0 || r.Per <= 0:
		return &ParamError{path, "must be above zero", "--set " + path + "=10/s"}
	case r.Units > maxRate:
		return &ParamError{path, r.String() + " is too fast", "--set " + path + "=1000/s"}
	}
	return nil
}

func oneOfNames(path, name string, known ...string) error {
	if slices.Contains(known, name) {
		return nil
	}
	hint := profiles.OneOf(name, known)
	return &ParamError{path, fmt.Sprintf("%q is not one of %s", name, strings.Join(known, ", ")), hint}
}

// costFits explains a cost that could never pass.
func costFits(cost, most int64, what string) error {
	switch {
	case cost < 1:
		return &ParamError{"cost", fmt.Sprintf("%d is below 1", cost), "--set cost=1"}
	case cost > most:
		return &ParamError{"cost", fmt.Sprintf("a call of cost %d can never pass: the %s is %d", cost, what, most),
			fmt.Sprintf("a cost above the %s is a mistake in the configuration; --set cost=%d", what, most)}
	}
	return nil
}

// paramOf is an error of package limit as one about parameters; prefix stands
// before the field's name.
func paramOf(err error, prefix string) error {
	if err == nil {
		return nil
	}
	if se, ok := err.(*limit.SpecError); ok {
		return &ParamError{prefix + se.Field, se.Value + " " + se.Reason, "--set " + prefix + se.Field + "=… with another number"}
	}
	return err
}
