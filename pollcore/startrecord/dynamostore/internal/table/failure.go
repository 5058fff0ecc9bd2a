package table

import (
	"fmt"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/internal/remedy"
)

// failure says of an error of the client whether trying again can help.
func (s *store) failure(key startrecord.Key, err error) error { return s.explain(s.Location(key), err) }

func (s *store) explain(location string, err error) error {
	return remedy.Explain(err, location, s.findRemedy)
}

// findRemedy says what to do about an answer of DynamoDB, whose errors below 500
// all have status 400.
func (s *store) findRemedy(code string, _ int) string {
	switch code {
	case "ConditionalCheckFailedException", "TransactionCanceledException", "TransactionInProgressException":
		return ""
	case "ResourceNotFoundException":
		return fmt.Sprintf("table %q does not exist in this region; create it, with the partition key %q (a string), or configure another", s.table, attrKey)
	case "AccessDeniedException":
		return fmt.Sprintf("access denied; grant dynamodb:GetItem and dynamodb:PutItem on table %q", s.table)
	case "ValidationException":
		return fmt.Sprintf("table %q does not have the form of start records: its partition key must be %q, a string, and it must have no sort key", s.table, attrKey)
	default:
		return "the request was refused; check the table and the endpoint"
	}
}

// failUndated returns the error of an answer without the header that leases rely on.
func (s *store) failUndated(key startrecord.Key) error {
	return fmt.Errorf("%w: %s: the answer lacks a Date header; without it leases cannot be told, so use an endpoint that sends it",
		startrecord.ErrConfiguration, s.Location(key))
}
