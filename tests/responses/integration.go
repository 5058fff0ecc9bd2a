package responses

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// Integration gives a JSON value of a shape the form that it has in an SDK
// integration of Step Functions: members in PascalCase, timestamps as RFC 3339
// strings, no nulls. Keys of maps are data and stay.
func Integration(s *catalog.Shape, v any) any {
	switch v := v.(type) {
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, value := range v {
			if value == nil {
				continue
			}
			spelled, shape := spell(s, name)
			object[spelled] = Integration(shape, value)
		}
		return object
	case []any:
		var element *catalog.Shape
		if s != nil && s.Type == catalog.List {
			element = s.Element.Shape
		}
		list := make([]any, 0, len(v))
		for _, item := range v {
			if item != nil {
				list = append(list, Integration(element, item))
			}
		}
		return list
	case float64:
		if s != nil && s.Type == catalog.Timestamp {
			return time.UnixMilli(int64(v * 1000)).UTC().Format(time.RFC3339Nano)
		}
		return v
	default:
		return v
	}
}

// spell returns how the member of a shape is spelled, and its shape.
func spell(s *catalog.Shape, name string) (string, *catalog.Shape) {
	switch {
	case s == nil:
		return name, nil
	case s.Type == catalog.Map:
		return name, s.Element.Shape
	case s.Type != catalog.Structure && s.Type != catalog.Union:
		return name, nil
	}
	var shape *catalog.Shape
	if m := s.Member(name); m != nil {
		shape = m.Shape
	}
	return memberName(name), shape
}

// IntegrationError is what Step Functions calls an error of the operation: the
// prefix of the service and the class that the AWS SDK for Java 2 has for the
// shape. All errors that the model does not declare are the service's own, but
// for one that was seen on AWS under another name.
func IntegrationError(o *catalog.Operation, code string) string {
	prefix := o.Service.ErrorPrefix + "."
	if e, ok := errorOf(o, code); ok {
		if name, ok := renamed[prefix+e.Shape]; ok {
			return prefix + name
		}
		return prefix + exceptionClass(e.Shape)
	}
	if o.Service.Key == "s3" && o.Name == "HeadBucket" && code == "NotFound" {
		return prefix + "NoSuchBucketException"
	}
	return prefix + o.Service.ErrorPrefix + "Exception"
}

// IntegrationCause is the Cause of an error with the message, or with the one that was
// seen of its code: it has the status, which is 400 if nothing else is known, and not
// the code.
func IntegrationCause(o *catalog.Operation, code, message string) string {
	status := 400
	for _, c := range o.Causes() {
		if c.Code == code {
			message = c.Message
		}
	}
	for _, e := range o.Errors {
		if e.Status != 0 && code != "" && (e.Shape == code || e.Code == code) {
			status = e.Status
		}
	}
	return fmt.Sprintf("%s (Service: %s, Status Code: %d, Request ID: 3ff1b2c0-0000-4000-8000-000000000000) (SDK Attempt Count: 1)",
		message, o.Service.ErrorPrefix, status)
}

// errorOf is the error of the model that has the name as its shape or code.
func errorOf(o *catalog.Operation, code string) (catalog.Error, bool) {
	for _, e := range o.Errors {
		if e.Shape != "" && code != "" && (e.Shape == code || e.Code == code) {
			return e, true
		}
	}
	return catalog.Error{}, false
}

// renamed are the classes of shapes that the SDK gives other names
// (aws/aws-sdk-java-v2, renameShapes in its customizations).
var renamed = map[string]string{"ElasticLoadBalancing.InvalidEndPointException": "InvalidInstanceException"}

var (
	endOfWord    = regexp.MustCompile(`([a-z])([A-Z])`)
	endOfAcronym = regexp.MustCompile(`([A-Z]+)([A-Z][a-z])`)
	endOfNumber  = regexp.MustCompile(`([0-9]+)([a-zA-Z])`)
	notInWord    = regexp.MustCompile(`[^A-Za-z0-9]+`)
)

// startingAcronym is an acronym that a name starts with, and what follows it.
var startingAcronym = regexp.MustCompile(`^([A-Za-z][A-Z]+)([A-Z][a-z].*|[^A-Za-z].*|)$`)

// memberName is how a member is spelled: with a capital, and an acronym at its
// beginning with one alone.
func memberName(name string) string {
	if parts := startingAcronym.FindStringSubmatch(name); parts != nil {
		return strings.ToUpper(parts[1][:1]) + strings.ToLower(parts[1][1:]) + parts[2]
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// exceptionClass is the name of a class: the shape's words with a capital and
// then small letters each, with Exception behind them in place of Fault.
func exceptionClass(shape string) string {
	text := notInWord.ReplaceAllString(shape, " ")
	for _, boundary := range []*regexp.Regexp{endOfWord, endOfAcronym, endOfNumber} {
		text = boundary.ReplaceAllString(text, "$1 $2")
	}
	var b strings.Builder
	for word := range strings.FieldsSeq(text) {
		runes := []rune(strings.ToLower(word))
		runes[0] = unicode.ToUpper(runes[0])
		b.WriteString(string(runes))
	}
	name := b.String()
	for _, ending := range []string{"Exception", "Fault"} {
		if rest, ok := strings.CutSuffix(name, ending); ok && rest != "" {
			name = rest
			break
		}
	}
	return name + "Exception"
}

var (
	throttled = regexp.MustCompile(`Throttl|TooManyRequests|RequestLimitExceeded|ProvisionedThroughputExceeded|^LimitExceededException$`)
	faulty5xx = regexp.MustCompile(`^(Internal|Server|Service(Internal|Unavailable|Exception))|InternalFailure`)
	timeout   = regexp.MustCompile(`Time(d)?[Oo]ut`)
)

// Fault tells whether a declared error says nothing of the job: the service
// throttles, is broken or has no time. Models of awsJson declare no statuses.
func Fault(e catalog.Error) bool {
	return e.Status >= 500 || e.Status == 429 || e.Status == 408 || throttled.MatchString(e.Shape) || timeout.MatchString(e.Shape) ||
		e.Status == 0 && faulty5xx.MatchString(e.Shape)
}
