package elasticmq

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Mapping delivers the messages of a queue to a function, as an event source mapping of
// Lambda does
// (https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html).
type Mapping struct {
	Client Client
	// QueueURL and QueueARN are those of the queue.
	QueueURL, QueueARN string
	// BatchSize is the most messages of an invocation, and Window how long they are
	// gathered.
	BatchSize int
	Window    time.Duration
	// Concurrency is how many invocations may run at once.
	Concurrency int
	// ReportFailures lets the function say which messages of a batch have failed.
	ReportFailures bool
	// Invoke invokes the function. The worker counts from 0 to Concurrency-1; each has
	// one invocation at a time.
	Invoke func(ctx context.Context, worker int, payload []byte) ([]byte, error)
}

// maxReceived is what one call of ReceiveMessage or DeleteMessageBatch takes.
const maxReceived = 10

// message is one of SQS.
type message struct {
	MessageID     string            `json:"MessageId"`
	ReceiptHandle string            `json:"ReceiptHandle"`
	Body          string            `json:"Body"`
	BodyMD5       string            `json:"MD5OfBody"`
	Attributes    map[string]string `json:"Attributes"`
}

// record is a message in the event of a function.
type record struct {
	MessageID         string            `json:"messageId"`
	ReceiptHandle     string            `json:"receiptHandle"`
	Body              string            `json:"body"`
	Attributes        map[string]string `json:"attributes"`
	MessageAttributes struct{}          `json:"messageAttributes"`
	MD5OfBody         string            `json:"md5OfBody"`
	EventSource       string            `json:"eventSource"`
	EventSourceARN    string            `json:"eventSourceARN"`
	AWSRegion         string            `json:"awsRegion"`
}

// Run delivers messages until the context ends. Its error is that of a call to receive.
func (m *Mapping) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	errs := make([]error, m.Concurrency)
	var workers sync.WaitGroup
	for worker := range errs {
		workers.Go(func() {
			for ctx.Err() == nil {
				batch, err := m.gather(ctx)
				switch {
				case ctx.Err() != nil:
				case err != nil:
					errs[worker] = err
					stop()
				case len(batch) > 0:
					m.deliver(ctx, worker, batch)
				}
			}
		})
	}
	workers.Wait()
	return errors.Join(errs...)
}

// gather receives messages until there are as many as a batch has, or until the window
// that begins with the first is over.
func (m *Mapping) gather(ctx context.Context) (batch []message, err error) {
	var end time.Time
	for len(batch) < m.BatchSize {
		wait := time.Second
		if len(batch) > 0 {
			if wait = time.Until(end); wait <= 0 {
				break
			}
		}
		received, err := m.receive(ctx, min(maxReceived, m.BatchSize-len(batch)), int(wait/time.Second))
		if err != nil {
			return nil, err
		}
		switch {
		case len(received) == 0 && len(batch) == 0:
			return nil, nil
		case len(received) == 0:
			select {
			case <-time.After(min(wait, 100*time.Millisecond)):
			case <-ctx.Done():
			}
		case len(batch) == 0:
			end = time.Now().Add(m.Window)
		}
		batch = append(batch, received...)
	}
	return batch, nil
}

func (m *Mapping) receive(ctx context.Context, n, seconds int) ([]message, error) {
	var out struct {
		Messages []message `json:"Messages"`
	}
	err := m.Client.Call(ctx, "ReceiveMessage", map[string]any{
		"QueueUrl": m.QueueURL, "MaxNumberOfMessages": n, "WaitTimeSeconds": seconds, "AttributeNames": []string{"All"},
	}, &out)
	return out.Messages, err
}

// deliver invokes the function with a batch, and deletes the messages that have not failed.
// The others are received again when their visibility time-out is over.
func (m *Mapping) deliver(ctx context.Context, worker int, batch []message) {
	var event struct {
		Records []record `json:"Records"`
	}
	for _, r := range batch {
		event.Records = append(event.Records, record{
			MessageID: r.MessageID, ReceiptHandle: r.ReceiptHandle, Body: r.Body, Attributes: r.Attributes, MD5OfBody: r.BodyMD5,
			EventSource: "aws:sqs", EventSourceARN: m.QueueARN, AWSRegion: "us-east-1",
		})
	}
	payload, err := json.Marshal(event)
	if err != nil {
		return // it is text
	}
	answer, err := m.Invoke(ctx, worker, payload)
	if err != nil {
		return
	}
	done := batch
	if m.ReportFailures {
		failed, err := readFailures(answer, batch)
		if err != nil {
			return
		}
		done = slices.DeleteFunc(batch, func(r message) bool { return slices.Contains(failed, r.MessageID) })
	}
	for some := range slices.Chunk(done, maxReceived) {
		entries := make([]map[string]string, len(some))
		for i, r := range some {
			entries[i] = map[string]string{"Id": strconv.Itoa(i), "ReceiptHandle": r.ReceiptHandle}
		}
		// Messages that are not deleted come again.
		_ = m.Client.Call(ctx, "DeleteMessageBatch", map[string]any{"QueueUrl": m.QueueURL, "Entries": entries}, nil)
	}
}

// readFailures returns the IDs of the messages that an answer says have failed. With an
// error all have.
func readFailures(answer []byte, batch []message) (failed []string, err error) {
	var out *struct {
		BatchItemFailures []map[string]*string `json:"batchItemFailures"`
	}
	if err := json.Unmarshal(answer, &out); err != nil {
		return nil, err
	}
	if out == nil {
		return nil, nil
	}
	for _, f := range out.BatchItemFailures {
		id := f["itemIdentifier"]
		if id == nil || *id == "" {
			return nil, errors.New("a failure has no itemIdentifier")
		}
		if !slices.ContainsFunc(batch, func(r message) bool { return r.MessageID == *id }) {
			return nil, fmt.Errorf("no message of the batch is %s", *id)
		}
		failed = append(failed, *id)
	}
	return failed, nil
}
