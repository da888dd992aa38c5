package recorder

import "time"

// A Speed says how long a handler takes for a call.
type Speed string

const (
	Fast    Speed = "fast"    // a call returns immediately
	Slow    Speed = "slow"    // a call takes SlowCall
	Stalled Speed = "stalled" // a call does not return until the speed changes
)

// SlowCall is how long a slow handler takes for a call.
const SlowCall = 200 * time.Millisecond
