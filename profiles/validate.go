package profiles

import "time"

const MaxDuration = 30 * 24 * time.Hour
const DefaultPrefix = "k-"
const DefaultBehaviour = "give-up"

func (p *Profile) Validate() error { return nil }
