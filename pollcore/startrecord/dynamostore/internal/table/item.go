package table

import (
	"fmt"
	"strconv"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// The attributes of an item. Epoch seconds are what DynamoDB's time to live
// wants, and as exact as its Date header.
const (
	attrKey       = "key"       // string, the partition key: prefix and path of the record
	attrRecord    = "record"    // string, the record in its JSON form
	attrVersion   = "version"   // string, the record's nonce, for conditions
	attrWrittenAt = "writtenAt" // number, epoch seconds by DynamoDB's clock
	attrExpiresAt = "expiresAt" // number, epoch seconds; absent for a record that does not expire
)

// maxItem is the greatest size of an item: the bytes of the names and values of
// its attributes. DynamoDB counts at most 21 bytes for a number.
const (
	maxItem   = 400 << 10
	maxNumber = 21
)

// keyOf is the primary key of a record's item.
func (s *store) keyOf(key startrecord.Key) Item {
	return Item{attrKey: text(s.prefix + key.Path())}
}

// encode returns the item of a write that is made at now.
func (s *store) encode(key startrecord.Key, w startrecord.Write, now time.Time) Item {
	written := s.keyOf(key)
	written[attrRecord] = text(string(w.Body))
	written[attrVersion] = text(w.Record.Nonce)
	written[attrWrittenAt] = number(now)
	if !w.Record.ExpiresAt.IsZero() {
		written[attrExpiresAt] = number(w.Record.ExpiresAt)
	}
	return written
}

// fits returns an error for a record that no item can hold.
func (s *store) fits(key startrecord.Key, w startrecord.Write) error {
	const names = len(attrKey + attrRecord + attrVersion + attrWrittenAt + attrExpiresAt)
	if size := names + len(s.prefix+key.Path()) + len(w.Body) + len(w.Record.Nonce) + 2*maxNumber; size > maxItem {
		return fmt.Errorf("start record for %s cannot be written: its item would have %d bytes, and DynamoDB takes at most %d; "+
			"lower the limit of a job's output, or keep the records in S3", s.Location(key), size, maxItem)
	}
	return nil
}

// decode reads the item that DynamoDB gave at now.
func (s *store) decode(key startrecord.Key, given Item, now time.Time) (startrecord.Stored, error) {
	body, version, writtenAt := given[attrRecord].S, given[attrVersion].S, given[attrWrittenAt].N
	if body == nil || version == nil || writtenAt == nil {
		return startrecord.Stored{}, fmt.Errorf("%w: %s: expected the attributes %q and %q (strings) and %q (a number)",
			startrecord.ErrMalformed, s.Location(key), attrRecord, attrVersion, attrWrittenAt)
	}
	digits, _ := jsontree.WholeNumber(*writtenAt)
	seconds, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return startrecord.Stored{}, fmt.Errorf("%w: %s: expected epoch seconds in the attribute %q, found %s",
			startrecord.ErrMalformed, s.Location(key), attrWrittenAt, *writtenAt)
	}
	rec, err := startrecord.Decode(key, []byte(*body))
	if err != nil {
		return startrecord.Stored{}, fmt.Errorf("%s: %w", s.Location(key), err)
	}
	if *version != rec.Nonce { // somebody has mended the one and not the other
		return startrecord.Stored{}, fmt.Errorf("%w: %s: the attribute %q is %q, but the record's nonce %q; give both the same new text",
			startrecord.ErrMalformed, s.Location(key), attrVersion, *version, rec.Nonce)
	}
	return startrecord.Stored{
		Record:  rec,
		Version: *version,
		Age:     max(0, now.Sub(time.Unix(seconds, 0))),
	}, nil
}

func text(s string) Value { return Value{S: &s} }

func number(t time.Time) Value { return Value{N: new(strconv.FormatInt(t.Unix(), 10))} }
