package elasticmq

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Client calls SQS.
type Client struct {
	Endpoint string
	// AccessKey says who calls. Nobody checks the signature.
	AccessKey string
}

// Call calls an operation of SQS. The output may be nil.
func (c Client) Call(ctx context.Context, operation string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Endpoint, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Target", "AmazonSQS."+operation)
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+c.AccessKey+"/20260101/us-east-1/sqs/aws4_request, SignedHeaders=host, Signature=0")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return err
	case response.StatusCode != http.StatusOK:
		return fmt.Errorf("%s: %s: %s", operation, response.Status, text)
	case out == nil || len(text) == 0:
		return nil
	}
	return json.Unmarshal(text, out)
}

// CreateQueue creates a queue with attributes, and returns its URL and its ARN.
func (c Client) CreateQueue(ctx context.Context, name string, attributes map[string]string) (url, arn string, err error) {
	in := map[string]any{"QueueName": name}
	if attributes != nil {
		in["Attributes"] = attributes
	}
	var out struct {
		QueueURL string `json:"QueueUrl"`
	}
	err = c.Call(ctx, "CreateQueue", in, &out)
	return out.QueueURL, "arn:aws:sqs:us-east-1:" + account + ":" + name, err
}

// Count counts the messages of a queue: those to be received now, the delayed ones, and
// those that were received and not deleted.
func (c Client) Count(ctx context.Context, queueURL string) (visible, delayed, received int, err error) {
	var out struct {
		Attributes struct {
			Visible  int `json:"ApproximateNumberOfMessages,string"`
			Delayed  int `json:"ApproximateNumberOfMessagesDelayed,string"`
			Received int `json:"ApproximateNumberOfMessagesNotVisible,string"`
		} `json:"Attributes"`
	}
	err = c.Call(ctx, "GetQueueAttributes", map[string]any{"QueueUrl": queueURL, "AttributeNames": []string{"All"}}, &out)
	return out.Attributes.Visible, out.Attributes.Delayed, out.Attributes.Received, err
}
