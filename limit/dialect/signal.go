package dialect

import "bytes"

// signalOf judges one pair of an error body. Which vendor a code belongs to
// does not matter: none of them means anything else anywhere.
func signalOf(key, val []byte) signal {
	switch {
	case fold(key, "__type"):
		if isThrottleCode(awsCode(val)) {
			return sigAWS
		}
	case fold(key, "code"), fold(key, "errorcode"), fold(key, "type"), fold(key, "status"), fold(key, "reason"),
		fold(key, "errortype"), fold(key, "category"), fold(key, "error"), fold(key, "error_code"):
		return signalOfCode(val)
	case fold(key, "documentation_url"):
		if bytes.HasSuffix(val, []byte("secondary-rate-limits")) || bytes.HasSuffix(val, []byte("abuse-rate-limits")) {
			return sigSecondary | sigLimit
		}
	case fold(key, "quota_limit_value"):
		if string(val) == "0" {
			return sigBilling
		}
	}
	return 0
}

func signalOfCode(v []byte) signal {
	switch string(v) { // does not allocate
	case "THROTTLED", "RATE_LIMITED":
		return sigLimit | sigGraph
	case "RESOURCE_EXHAUSTED", "rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "RATE_LIMIT_EXCEEDED":
		return sigLimit | sigGoogle
	case "rate_limit", "rate_limit_exceeded", "rate_limit_error", "ratelimited", "RATE_LIMIT", "RATE_LIMITS",
		"TooManyRequests", "TOOMANYREQUESTS", "activityLimitReached", "throttledRequest", "E0000047", "20429":
		return sigLimit
	case "lock_timeout", "RetryableErrorDueToAnotherOperation":
		return sigLock
	case "insufficient_quota", "enforced_spend_limit_reached":
		return sigBilling
	case "overloaded_error":
		return sigReduced
	}
	switch {
	case hasSuffix(v, "#quota-exceeded"), hasSuffix(v, "#abnormal-usage-detected"):
		return sigLimit
	case hasSuffix(v, "#temporary-reduced-capacity"):
		return sigReduced
	case isThrottleCode(awsCode(v)):
		return sigAWS
	}
	return 0
}

// awsCode takes the code out of an error type: what follows # and comes before
// a colon.
func awsCode(v []byte) []byte {
	if i := bytes.LastIndexByte(v, '#'); i >= 0 {
		v = v[i+1:]
	}
	if i := bytes.IndexByte(v, ':'); i >= 0 {
		v = v[:i]
	}
	return trim(v)
}

// isThrottleCode holds botocore's list of codes that mean throttling.
func isThrottleCode(v []byte) bool {
	switch string(v) {
	case "Throttling", "ThrottlingException", "ThrottledException", "RequestThrottled",
		"RequestThrottledException", "TooManyRequestsException", "ProvisionedThroughputExceededException",
		"TransactionInProgressException", "RequestLimitExceeded", "EC2ThrottledException",
		"BandwidthLimitExceeded", "LimitExceededException", "SlowDown", "PriorRequestNotComplete":
		return true
	}
	return false
}

func hasSuffix(b []byte, s string) bool {
	return len(b) >= len(s) && string(b[len(b)-len(s):]) == s
}
