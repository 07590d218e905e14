package inspect

import "maps"

// models are the ways to decide that layouts name. Filled in by init, since
// models and what checks layouts refer to each other.
var models map[string]model

func init() {
	models = map[string]model{
		"tat":             {checkTAT, decodeTAT},
		"counter":         {checkCounter, decodeCounter},
		"numbered-window": {checkNumbered, decodeNumbered},
		"sliding-pair":    {checkSlidingPair, decodeSlidingPair},
		"shifting-pair":   {checkShiftingPair, decodeShiftingPair},
		"hits-and-block":  {checkHitsAndBlock, decodeHitsAndBlock},
		"bucket":          {checkBucket, decodeBucket},
		"log":             {checkLog, decodeLog},
		"ban":             {checkBan, decodeBan},
		"traefik":         {checkNothing, decodeTraefik},

		"weir-bucket":      {checkNothing, decodeWeirBucket},
		"weir-fixed":       {checkNothing, decodeWeirFixed},
		"weir-counter":     {checkNothing, decodeWeirCounter},
		"weir-log":         {checkNothing, decodeWeirLog},
		"weir-concurrency": {checkNothing, decodeWeirConcurrency},
		"weir-plain":       {checkNumbered, decodeWeirPlain},
	}
	maps.Copy(models, writerModels())
}

func modelNames() []string { return sortedKeys(models) }

// checkNothing is for models with code of their own, which know their fields.
func checkNothing(*Layout) string { return "" }

// needRoles is what a layout lacks whose keys must have these roles.
func needRoles(l *Layout, roles ...string) string {
	for _, role := range roles {
		if l.form(role).Role != role {
			return "needs a key with the role " + role
		}
	}
	return ""
}
