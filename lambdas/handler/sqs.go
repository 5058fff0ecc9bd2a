package handler

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/internal/awscall"
)

// What one call of SendMessageBatch takes
// (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html).
const (
	maxBatchMessages = 10
	maxBatchBytes    = 1 << 20
)

// sqsQueue is a queue of SQS.
type sqsQueue struct {
	service *jsonService
	url     string
}

// queuePath is the path of a queue's URL: the account and the name. A FIFO queue has no
// delays for single messages.
var queuePath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^/[0-9]{12}/[A-Za-z0-9_-]{1,80}$`) })

// newSQSQueue returns the queue of a URL. Calls go to the endpoint of the configuration,
// not to the URL's host; the two must agree all the same.
func newSQSQueue(cfg aws.Config, queueURL string) (*sqsQueue, error) {
	service, err := newJSONService(cfg, "SQS", "AmazonSQS", "sqs", sqsPrefix)
	if err != nil {
		return nil, err
	}
	const form = "expected https://sqs.REGION.amazonaws.com/ACCOUNT/NAME of a standard queue"
	u, err := url.Parse(queueURL)
	switch {
	case err != nil:
		return nil, fmt.Errorf("it is not a URL: %s", form)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || !queuePath().MatchString(u.EscapedPath()):
		return nil, fmt.Errorf("%q is not the URL of a queue: %s", u.Redacted(), form)
	}
	to := service.endpoint.URL
	known := []string{to.Host, "sqs." + cfg.Region + ".amazonaws.com", "sqs." + cfg.Region + ".amazonaws.com.cn"}
	if u.Scheme != to.Scheme && u.Scheme != "https" || !slices.Contains(known, u.Host) {
		return nil, fmt.Errorf("%q is not a queue of the endpoint %s: %s; correct the URL, or set AWS_REGION or AWS_ENDPOINT_URL_SQS", queueURL, to, form)
	}
	return &sqsQueue{service, queueURL}, nil
}

// sqsPrefix is what SQS's hosts begin with. In GovCloud those of IPv4 are all for FIPS.
func sqsPrefix(settings awscall.Settings, region string) string {
	if settings.FIPS && (settings.DualStack || awscall.PartitionOf(region).Name != "aws-us-gov") {
		return "sqs-fips"
	}
	return "sqs"
}

// Send implements Queue.
func (q *sqsQueue) Send(ctx context.Context, messages []Message) []error {
	errs := make([]error, len(messages))
	for from := 0; from < len(messages); {
		to, size := from, 0
		for to < len(messages) && to-from < maxBatchMessages && (to == from || size+len(messages[to].Body) <= maxBatchBytes) {
			size += len(messages[to].Body)
			to++
		}
		q.sendBatch(ctx, messages[from:to], errs[from:to])
		from = to
	}
	return errs
}

// sendBatch sends as many messages as one call takes.
func (q *sqsQueue) sendBatch(ctx context.Context, messages []Message, errs []error) {
	type entry struct {
		ID           string `json:"Id"`
		MessageBody  string `json:"MessageBody"`
		DelaySeconds int    `json:"DelaySeconds"`
	}
	in := struct {
		QueueURL string  `json:"QueueUrl"`
		Entries  []entry `json:"Entries"`
	}{QueueURL: q.url}
	for i, m := range messages {
		in.Entries = append(in.Entries, entry{strconv.Itoa(i), m.Body, int(m.Delay / time.Second)})
	}
	var out struct {
		Successful []struct {
			ID string `json:"Id"`
		} `json:"Successful"`
		Failed []struct {
			ID          string `json:"Id"`
			Code        string `json:"Code"`
			Message     string `json:"Message"`
			SenderFault bool   `json:"SenderFault"`
		} `json:"Failed"`
	}
	call, cancel := callLimit(ctx)
	defer cancel()
	err := q.service.call(call, "SendMessageBatch", in, &out)
	switch {
	case err == nil:
		err = errNotConfirmed // for those that the answer does not have
	case errors.Is(err, awscall.ErrAnswer):
		err = fmt.Errorf("%w: %w", errNotConfirmed, err)
	}
	for i := range errs {
		errs[i] = err
	}
	set := func(id string, err error) {
		if i, convErr := strconv.Atoi(id); convErr == nil && i >= 0 && i < len(errs) {
			errs[i] = err
		}
	}
	for _, sent := range out.Successful {
		set(sent.ID, nil)
	}
	for _, f := range out.Failed {
		refusal := &smithy.GenericAPIError{Code: f.Code, Message: f.Message, Fault: smithy.FaultServer}
		if f.SenderFault {
			refusal.Fault = smithy.FaultClient
		}
		set(f.ID, refusal)
	}
}

// errNotConfirmed is the error of a message that SQS does not say it has. It passes.
var errNotConfirmed = &smithy.GenericAPIError{Code: "InternalError", Message: "SQS did not confirm the message", Fault: smithy.FaultServer}
