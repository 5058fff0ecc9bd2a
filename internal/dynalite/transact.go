package dynalite

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// transactions makes of a TransactWriteItems, which dynalite does not have, a PutItem for
// each of its Puts. Only the first of them may have a condition: if that does not hold,
// nothing is written.
type transactions struct{ next http.RoundTripper }

const targetHeader = "X-Amz-Target"

func (t transactions) RoundTrip(r *http.Request) (*http.Response, error) {
	version, operation, _ := strings.Cut(r.Header.Get(targetHeader), ".")
	if operation != "TransactWriteItems" {
		return t.next.RoundTrip(r)
	}
	var in struct {
		TransactItems []struct {
			Put json.RawMessage `json:"Put"`
		} `json:"TransactItems"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return nil, err
	}
	var response *http.Response
	for _, item := range in.TransactItems {
		put := r.Clone(r.Context())
		put.Header.Set(targetHeader, version+".PutItem")
		put.Body, put.ContentLength = io.NopCloser(bytes.NewReader(item.Put)), int64(len(item.Put))
		var err error
		if response, err = t.next.RoundTrip(put); err != nil {
			return nil, err
		}
		text, err := io.ReadAll(response.Body)
		if err := response.Body.Close(); err != nil {
			return nil, err
		}
		if err != nil {
			return nil, err
		}
		if strings.Contains(string(text), "ConditionalCheckFailedException") {
			text = []byte(`{"__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",` +
				` "Message": "Transaction cancelled, please refer cancellation reasons for specific reasons [ConditionalCheckFailed, None]",` +
				` "CancellationReasons": [{"Code": "ConditionalCheckFailed"}, {"Code": "None"}]}`)
		}
		response.Header.Del("X-Amz-Crc32")
		response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		if response.StatusCode != http.StatusOK {
			break
		}
	}
	return response, nil
}
