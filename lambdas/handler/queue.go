package handler

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// Queue holds messages until they are due, and delivers each at least once to Collect. It
// is safe for concurrent use.
type Queue interface {
	// Send sends messages. The errors are in their order, nil for one that was sent; the
	// slice is nil if all were.
	Send(ctx context.Context, messages []Message) []error
}

// Message is a text that is delivered after its delay.
type Message struct {
	Body string
	// Delay is in whole seconds, from 0 to MaxMessageDelay.
	Delay time.Duration
}

// MaxMessageDelay is the longest delay of a message of SQS
// (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html).
const MaxMessageDelay = 15 * time.Minute

// wakeUp is the body of the message of a wait. Token, job and deadline are in the start
// record.
type wakeUp struct {
	ExecutionARN string `json:"executionArn"`
	Poller       string `json:"poller"`
	Scope        string `json:"scope,omitempty"`
	// Number, ID and Wait are those of startrecord.Callback.
	Number int    `json:"number"`
	ID     string `json:"id"`
	Wait   int    `json:"wait,omitempty"`
	Note   string `json:"note"`
}

// deadLetterNote is for who finds a message in a dead-letter queue.
const deadLetterNote = "The collector polls the job of this execution when it receives this message. " +
	"Is the message in a dead-letter queue? The log of the collector says what was wrong: correct that, then redrive the queue."

// maxMessageNumber is far above what a wait of a year counts to.
const maxMessageNumber = 1 << 30

func newWakeUp(key startrecord.Key, c startrecord.Callback) wakeUp {
	return wakeUp{key.ExecutionARN, key.Poller, key.Scope, c.Number, c.MessageID, c.Wait, deadLetterNote}
}

func (w wakeUp) key() startrecord.Key {
	return startrecord.Key{ExecutionARN: w.ExecutionARN, Poller: w.Poller, Scope: w.Scope}
}

// isOutdated reports whether a record has another message by now. A message that is newer
// than its record is valid: whoever sent it has not written its number, or not yet.
func (w wakeUp) isOutdated(c startrecord.Callback) bool {
	return w.Wait < c.Wait || w.Number < c.Number || w.Number == c.Number && w.ID != c.MessageID
}

// message returns the message that is due at a time.
func (w wakeUp) message(due, now time.Time) Message {
	body, err := json.Marshal(w)
	if err != nil {
		panic(err) // it is text
	}
	return Message{string(body), messageDelay(due.Sub(now))}
}

// messageDelay is a delay that a message can have. A longer one is made of several.
func messageDelay(d time.Duration) time.Duration {
	return min(max(0, time.Duration(seconds(d))*time.Second), MaxMessageDelay)
}

// setNextMessage gives a callback its next message, which is newer than the one that the
// record names and than the one that was received, if any: the record may not know of that
// one yet. The message is sent before the record names it. Else who dies between the two
// leaves a wait without a message, for the record outdates those that were sent.
func setNextMessage(c *startrecord.Callback, received *wakeUp) {
	if received != nil {
		c.Number = max(c.Number, received.Number)
	}
	c.Number, c.MessageID = c.Number+1, rand.Text()[:8]
}

// queueError names an error of the queue.
func queueError(err error) *Error {
	if goerror.Passes(err) {
		return failBecause(ErrorServiceUnavailable, err, "the message for the collector was not sent")
	}
	return failBecause(ErrorConfiguration, err, "the message for the collector was not sent; "+
		"check %s, and grant sqs:SendMessage on the queue", word(EnvQueueURL))
}
