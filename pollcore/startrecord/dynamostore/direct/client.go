package direct

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/jobpoller/jobpoller/internal/awscall"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/dynamostore/internal/table"
)

// service is the SDK's name of DynamoDB.
const service = "DynamoDB"

// client speaks the protocol awsJson1.0 to DynamoDB.
type client struct {
	calls    *awscall.Client
	endpoint endpointRules
}

func newClient(cfg aws.Config, endpoint endpointRules) *client {
	return &client{awscall.New(cfg, awscall.Options{Retries: newRetries(&cfg)}), endpoint}
}

// newRetries returns what the SDK's client of DynamoDB changes of the standard
// retryer once the retries of 2026 are chosen, nil for nothing.
func newRetries(cfg *aws.Config) func(*retry.StandardOptions) {
	if os.Getenv("AWS_NEW_RETRIES_2026") != "true" {
		return nil
	}
	return func(o *retry.StandardOptions) {
		o.BaseDelay = 25 * time.Millisecond
		if cfg.RetryMaxAttempts == 0 {
			o.MaxAttempts = 4
		}
	}
}

// GetItem implements table.Client.
func (c *client) GetItem(ctx context.Context, in table.GetItem) (found table.Item, now time.Time, err error) {
	var out struct {
		Item table.Item `json:"Item"`
	}
	answer, err := c.call(ctx, "GetItem", in.TableName, in, &out)
	if err != nil {
		return nil, time.Time{}, err
	}
	now, _ = http.ParseTime(answer.Header.Get("Date")) // zero if there is none
	return out.Item, now, nil
}

// PutItem implements table.Client.
func (c *client) PutItem(ctx context.Context, in table.PutItem) (found table.Item, err error) {
	_, err = c.call(ctx, "PutItem", in.TableName, in, &struct{}{})
	if refused, ok := errors.AsType[*refusal](err); ok {
		return refused.item, err
	}
	return nil, err
}

// TransactWriteItems implements table.Client.
func (c *client) TransactWriteItems(ctx context.Context, in table.TransactWriteItems) error {
	_, err := c.call(ctx, "TransactWriteItems", in.TransactItems[0].Put.TableName, in, &struct{}{})
	return err
}

// refusal is what DynamoDB answers instead of a result.
type refusal struct {
	*smithy.GenericAPIError

	item table.Item // that a condition was held against
}

// Unwrap returns the error of the SDK's kind.
func (r *refusal) Unwrap() error { return r.GenericAPIError }

// call calls an operation on the table. It returns the answer, whose body it has
// read into out.
func (c *client) call(ctx context.Context, operation, tableName string, in, out any) (answer *smithyhttp.Response, err error) {
	err = c.calls.Do(ctx, &awscall.Call{
		Service: service, Operation: operation, Agent: "jobpoller-dynamostore", Features: c.endpoint.features(),
		Write: func(_ context.Context, request *smithyhttp.Request) error { return write(request, operation, in) },
		Endpoint: func(keys aws.Credentials) (awscall.Endpoint, error) {
			return c.endpoint.resolve(keys.AccountID, tableName)
		},
		Read: func(_ context.Context, response *smithyhttp.Response, body []byte) error {
			answer = response
			return read(response, body, out)
		},
	})
	return answer, err
}

// write writes a request.
func write(request *smithyhttp.Request, operation string, in any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	request.Method, request.URL.Path = http.MethodPost, "/"
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	// The checksum of an answer is of the bytes that were sent.
	request.Header.Set("Accept-Encoding", "identity")
	sent, err := request.SetStream(bytes.NewReader(body))
	if err != nil {
		return err
	}
	*request = *sent
	return nil
}

// read reads an answer into out.
func read(answer *smithyhttp.Response, body []byte, out any) error {
	if err := checkSum(answer.Header.Get("X-Amz-Crc32"), body); err != nil {
		return &smithy.DeserializationError{Err: err}
	}
	if !awscall.Succeeds(answer) {
		var said struct {
			Item table.Item `json:"Item"`
		}
		_ = json.Unmarshal(body, &said) // only a condition that does not hold has one
		return &refusal{awscall.ReadRefusal(answer, body), said.Item}
	}
	if err := json.Unmarshal(body, out); err != nil {
		return &smithy.DeserializationError{Err: fmt.Errorf("%w: %w", awscall.ErrAnswer, err)}
	}
	return nil
}

// checkSum compares an answer with its checksum, which is empty for none.
func checkSum(sum string, body []byte) error {
	if sum == "" {
		return nil
	}
	if want, err := strconv.ParseUint(sum, 10, 32); err != nil || uint32(want) != crc32.ChecksumIEEE(body) {
		return fmt.Errorf("%w: its checksum is not %s", awscall.ErrAnswer, sum)
	}
	return nil
}

// features say in the user agent which endpoints are asked for.
func (e endpointRules) features() []awsmiddleware.UserAgentFeature {
	if feature, ok := accountFeatures[e.accounts]; ok {
		return []awsmiddleware.UserAgentFeature{feature}
	}
	return nil
}

var accountFeatures = map[aws.AccountIDEndpointMode]awsmiddleware.UserAgentFeature{
	aws.AccountIDEndpointModePreferred: awsmiddleware.UserAgentFeatureAccountIDModePreferred,
	aws.AccountIDEndpointModeRequired:  awsmiddleware.UserAgentFeatureAccountIDModeRequired,
	aws.AccountIDEndpointModeDisabled:  awsmiddleware.UserAgentFeatureAccountIDModeDisabled,
}
