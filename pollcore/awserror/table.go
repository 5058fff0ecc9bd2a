package awserror

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// codes are the classes of errors by their codes. The first row that fits counts.
// Codes stand here as canonical returns them. Sources: package aws/retry of
// aws-sdk-go-v2 (DefaultThrottleErrorCodes, DefaultRetryableErrorCodes), and the
// errors that the models of all services declare with the status 408, 429 or 500
// and above.
var codes = []struct {
	class Class
	// whole codes, and what stands anywhere in a code or at its end.
	whole, part, end []string
}{
	{
		class: Throttled,
		part:  []string{"throttl", "throughputexceeded", "ratelimit"},
		whole: []string{
			"bandwidthlimitexceeded", "requestlimitexceeded", "slowdown", "toomanyrequest", "toomanyrequests",
			// Too many calls, or too many jobs at once. Some services mean too many
			// resources, which does not pass, but the SDKs try again all the same.
			"limitexceeded",
			// Another call is under way, and this one was declined for it.
			"priorrequestnotcomplete", "transactioninprogress",
			"conditionalrequestconflict",                     // of S3, for a conditional write
			"transactionconflict", "replicatedwriteconflict", // of DynamoDB
		},
	},
	{
		// The service took too long. It may have acted, or act yet. Some services call
		// that an error of the caller with the status 400, such as Glue's
		// OperationTimeoutException, which the SDKs do not try again.
		class: Unclear,
		part:  []string{"timeout", "timedout"},
	},
	{
		// The client inside Step Functions has no answer.
		class: Unclear,
		whole: []string{"sdkclient"},
	},
	{
		class: Fault,
		part:  []string{"internalserver", "internalservice", "internalfailure", "temporarilyunavailable"},
		whole: []string{"badgateway", "server", "service", "servicefailure", "serviceunavailable"},
		end:   []string{"internal"},
	},
}

// classifyCode returns the class of a code, and Unknown if the table does not
// have it.
func classifyCode(code string) Class {
	code = canonical(code)
	if strings.HasPrefix(code, "invalid") { // an argument, such as InvalidOriginReadTimeout of CloudFront
		return Unknown
	}
	for _, row := range codes {
		if slices.Contains(row.whole, code) ||
			slices.ContainsFunc(row.part, func(part string) bool { return strings.Contains(code, part) }) ||
			slices.ContainsFunc(row.end, func(end string) bool { return strings.HasSuffix(code, end) }) {
			return row.class
		}
	}
	return Unknown
}

// IsLimit tells whether a code is the error that most services have for too many resources, in whatever
// form: some call it LimitExceededFault. The SDKs retry it like a throttled call, and a service that is
// called too often may answer with another code.
func IsLimit(code string) bool { return canonical(code) == "limitexceeded" }

// IsCommonThrottling tells whether a code is the one by which any service denies calls that are too frequent
// (the common errors of AWS's API references).
func IsCommonThrottling(code string) bool { return code == "ThrottlingException" }

// IsOfAnother tells whether a code is an error of a service that the called one calls in turn, such as
// KMSThrottlingException.
func IsOfAnother(code string) bool { return ofAnother().MatchString(code) }

var ofAnother = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(Dependen|EC2|EKS|KMS|Kms|Lambda)`) })

// canonical returns a code in small letters, without its namespace and without
// "Exception", "Error" and "Fault" at its end. Those differ between the forms of
// one error: Step Functions shows LimitExceededFault as LimitExceededException,
// and what is ThrottledException in a model may be Throttled in an answer.
func canonical(code string) string {
	code, _, _ = strings.Cut(code, ":")
	code = strings.ToLower(code[strings.IndexByte(code, '#')+1:])
	for {
		short := code
		for _, end := range []string{"exception", "error", "fault"} {
			short = strings.TrimSuffix(short, end)
		}
		if short == code {
			return code
		}
		code = short
	}
}

// Statuses of HTTP, without net/http: package pollcore links no network.
const (
	badRequest          = 400
	forbidden           = 403
	requestTimeout      = 408
	tooEarly            = 425
	tooManyRequests     = 429
	notImplemented      = 501
	versionNotSupported = 505
)

// classifyStatus returns the class of an HTTP status.
func classifyStatus(status int) Class {
	switch {
	case status == tooManyRequests:
		return Throttled
	case status == tooEarly:
		// RFC 8470: the server will not risk to process a request that may be a replay.
		return Throttled
	case status == requestTimeout:
		return Unclear
	case status == notImplemented, status == versionNotSupported:
		// RFC 9110: the server cannot do what the request asks for, now and later. The
		// SDKs do not try again.
		return Refused
	case status >= 500 && status <= 599:
		// The SDKs try 500, 502, 503 and 504 again. RFC 9110 has clients read a status
		// that they do not know, such as 599, as 500.
		return Fault
	case status >= 400 && status <= 499:
		return Refused
	default:
		// A good answer that cannot be read, or a redirect.
		return Unknown
	}
}

// ClassifyAnswer returns the class of an HTTP answer by its status and the codes of
// its error, which are two in services that spoke the query protocol once. The status
// is 0 and a code empty where it is not known. A code may have a namespace before "#"
// and a URI after ":", as in answers.
//
// A code says more than a status: ThrottlingException has 400, 429, 500 or 503. But a
// service that says 429 for ServiceUnavailableException throttles.
func ClassifyAnswer(status int, codes ...string) Class {
	class := classifyStatus(status)
	for _, code := range codes {
		switch by := classifyCode(code); {
		case by == Unknown, by == Fault && class == Throttled:
		default:
			return by
		}
	}
	return class
}
