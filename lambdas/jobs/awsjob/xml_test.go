package awsjob_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
)

// What a service that speaks XML or CBOR should not send is an error, and no result.
func TestBadXMLAndCBOR(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("<a>", 200_000)
	for name, tt := range map[string]struct{ service, operation, body, want string }{
		"not XML":       {"rds", "DescribeDBInstances", "DBInstances: []", "it is not XML"},
		"empty":         {"ec2", "DescribeInstances", "", "it is empty"},
		"half":          {"ec2", "DescribeInstances", "<DescribeInstancesResponse><reservationSet><item>", "unexpected EOF"},
		"wrong end":     {"ec2", "DescribeInstances", "<DescribeInstancesResponse></reservationSet>", "element <DescribeInstancesResponse> closed by"},
		"a proxy":       {"rds", "DescribeDBInstances", "<!DOCTYPE html><HTML><body>Sign in</body></HTML>", "it is a page of HTML"},
		"a proxy, REST": {"cloudfront", "GetDistribution", "<html><body>Sign in</body></html>", "it is a page of HTML"},
		"other answer":  {"rds", "DescribeDBInstances", "<DescribeStacksResponse><DescribeStacksResult/></DescribeStacksResponse>", "it has no result of DescribeDBInstances, or breaks off"},
		"an entity": {
			"rds", "DescribeDBInstances",
			`<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><DescribeDBInstancesResponse><DescribeDBInstancesResult><Marker>&b;</Marker></DescribeDBInstancesResult></DescribeDBInstancesResponse>`,
			"invalid character entity &b;",
		},
		"deep":        {"ec2", "DescribeInstances", "<DescribeInstancesResponse>" + deep, "unexpected EOF"},
		"long":        {"ec2", "DescribeInstances", strings.Repeat(" ", awsjob.MaxAnswer+1), "it is longer than"},
		"no number":   {"rds", "DescribeDBInstances", "<DescribeDBInstancesResponse><DescribeDBInstancesResult><DBInstances><DBInstance><AllocatedStorage>x</AllocatedStorage></DBInstance></DBInstances></DescribeDBInstancesResult></DescribeDBInstancesResponse>", "AllocatedStorage"},
		"no time":     {"rds", "DescribeDBInstances", "<DescribeDBInstancesResponse><DescribeDBInstancesResult><DBInstances><DBInstance><InstanceCreateTime>now</InstanceCreateTime></DBInstance></DBInstances></DescribeDBInstancesResult></DescribeDBInstancesResponse>", "InstanceCreateTime"},
		"a structure": {"rds", "DescribeDBInstances", "<DescribeDBInstancesResponse><DescribeDBInstancesResult><Marker><x/></Marker></DescribeDBInstancesResult></DescribeDBInstancesResponse>", "Marker"},
		"text, REST":  {"s3control", "DescribeJob", "upstream connect error", "it is not XML"},
		"an element behind": {
			"rds", "DescribeDBInstances", "<DescribeDBInstancesResponse><DescribeDBInstancesResult/></DescribeDBInstancesResponse><evil/>", "it goes on behind its end",
		},
		"a text behind": {
			"rds", "DescribeDBInstances", "<DescribeDBInstancesResponse><DescribeDBInstancesResult/></DescribeDBInstancesResponse>\n x", "it goes on behind its end",
		},
		"CBOR":       {"eventbridgev2", "DescribeEventBus", "\xbf\x64", "it is not CBOR, breaks off"},
		"deep CBOR":  {"eventbridgev2", "DescribeEventBus", "\xbf\x61a" + strings.Repeat("\xc6", 8<<20-10), "nests too deep"},
		"CBOR, HTML": {"eventbridgev2", "DescribeEventBus", "<html>", "it is not CBOR"},
	} {
		cfg := config("https://service.test")
		cfg.HTTPClient = &canned{status: http.StatusOK, header: http.Header{}, body: []byte(tt.body)}
		cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
		op := operation(t, tt.service, tt.operation)
		_, err := awsjob.New(cfg).Call(t.Context(), op, (&sampler{spell: modelName}).value(wholeInput(op), nil))
		require.ErrorIs(t, err, awsjob.ErrAnswer, name)
		require.ErrorContains(t, err, tt.want, name)
	}
}

// An answer in JSON or XML is one value. White space and comments may follow it.
func TestWhatStandsBehindAnAnswer(t *testing.T) {
	t.Parallel()
	const instances = "<DescribeDBInstancesResponse><DescribeDBInstancesResult><Marker>m</Marker></DescribeDBInstancesResult></DescribeDBInstancesResponse>"
	for body, ok := range map[string]bool{
		`{"QueryExecution": {"Query": "}"}}` + " \r\n\t": true,
		`{"QueryExecution": {}} garbage`:                 false,
		`{"QueryExecution": {}}{}`:                       false,
		`{"QueryExecution": {}}]`:                        false,
		instances + "\n<!-- end -->\n":                   true,
		instances + instances:                            false,
	} {
		op := operation(t, "athena", "GetQueryExecution")
		if strings.HasPrefix(body, "<") {
			op = operation(t, "rds", "DescribeDBInstances")
		}
		cfg := config("https://service.test")
		cfg.HTTPClient = &canned{status: http.StatusOK, header: http.Header{}, body: []byte(body)}
		cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
		_, err := awsjob.New(cfg).Call(t.Context(), op, (&sampler{spell: modelName}).value(wholeInput(op), nil))
		if ok {
			require.NoError(t, err, body)
			continue
		}
		require.ErrorIs(t, err, awsjob.ErrAnswer, body)
	}
}

// A shape that contains itself ends somewhere.
func TestDeepXML(t *testing.T) {
	t.Parallel()
	nest := service(t, `{"name": "Nest", "key": "nest", "protocols": ["query"], "endpoint": {"prefix": "nest", "signingName": "nest"},
		"operations": {"Get": {"output": "Node"}}, "shapes": {"Node": {"type": "structure", "members": {"Node": "Node"}}}}`)
	for _, depth := range []int{900, 100_000} {
		cfg := config("https://service.test")
		cfg.HTTPClient = &canned{status: http.StatusOK, header: http.Header{}, body: []byte(
			"<GetResponse><GetResult>" + strings.Repeat("<Node>", depth) + strings.Repeat("</Node>", depth) + "</GetResult></GetResponse>")}
		_, err := awsjob.New(cfg).Call(t.Context(), nest.Operations["Get"], nil)
		if depth < 1000 {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, awsjob.ErrAnswer)
		require.ErrorContains(t, err, "it nests deeper than 1000")
	}
}

// What the model does not know is passed over, comments and white space too.
func TestUnknownXML(t *testing.T) {
	t.Parallel()
	cfg := config("https://service.test")
	cfg.HTTPClient = &canned{status: http.StatusOK, header: http.Header{}, body: []byte(
		"<DescribeInstancesResponse xmlns=\"x\" a=\"b\">\n<!-- hello --><new><reservationSet><item/></reservationSet></new>\n" +
			"<reservationSet>\n <item><instancesSet><item><instanceState><name>running</name><code>16</code></instanceState></item></instancesSet></item>\n</reservationSet></DescribeInstancesResponse>")}
	out, err := awsjob.New(cfg).Call(t.Context(), operation(t, "ec2", "DescribeInstances"), nil)
	require.NoError(t, err)
	require.Equal(t, "map[Reservations:[map[Instances:[map[State:map[Code:16 Name:running]]]]]]", fmt.Sprint(out))
}

// A list without an element around it is one list, though others stand between its items.
func TestListsInParts(t *testing.T) {
	t.Parallel()
	s3, err := models.Load("s3")
	require.NoError(t, err)
	cfg := config("https://service.test")
	cfg.HTTPClient = &canned{status: http.StatusOK, header: http.Header{}, body: []byte(
		"<ListVersionsResult><Version><Key>a</Key></Version><DeleteMarker><Key>b</Key></DeleteMarker><Version><Key>c</Key></Version>" +
			"<Version><Key>d</Key></Version><DeleteMarker><Key>e</Key></DeleteMarker></ListVersionsResult>")}
	out, err := awsjob.New(cfg).Call(t.Context(), s3.Operations["ListObjectVersions"], map[string]any{"Bucket": "records"})
	require.NoError(t, err)
	require.Equal(t, "map[DeleteMarkers:[map[Key:b] map[Key:e]] Versions:[map[Key:a] map[Key:c] map[Key:d]]]", fmt.Sprint(out))
}

// Errors of services that speak XML, in the forms that they have.
func TestXMLErrors(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		service, operation string
		status             int
		body               string
		code, message      string
		wantStatus         int
		retried            bool
	}{
		"query":             {"rds", "DescribeDBInstances", 404, "<ErrorResponse><Error><Type>Sender</Type><Code>DBInstanceNotFound</Code><Message>no</Message></Error></ErrorResponse>", "DBInstanceNotFound", "no", 404, false},
		"EC2":               {"ec2", "DescribeInstances", 400, "<Response><Errors><Error><Code>InvalidInstanceID.NotFound</Code><Message>no</Message></Error></Errors></Response>", "InvalidInstanceID.NotFound", "no", 400, false},
		"EC2 throttles":     {"ec2", "DescribeInstances", 503, "<Response><Errors><Error><Code>RequestLimitExceeded</Code><Message>slow</Message></Error></Errors></Response>", "RequestLimitExceeded", "slow", 503, true},
		"query throttles":   {"rds", "DescribeDBInstances", 400, "<ErrorResponse><Error><Code>Throttling</Code><Message>slow</Message></Error></ErrorResponse>", "Throttling", "slow", 400, true},
		"REST":              {"cloudfront", "GetDistribution", 404, "<ErrorResponse><Error><Code>NoSuchDistribution</Code><Message>no</Message></Error></ErrorResponse>", "NoSuchDistribution", "no", 404, false},
		"a proxy":           {"rds", "DescribeDBInstances", 502, "<html><body>Bad gateway</body></html>", "UnknownError", "Bad Gateway", 502, true},
		"nothing":           {"rds", "DescribeDBInstances", 500, "", "UnknownError", "Internal Server Error", 500, true},
		"a bucket is not":   {"s3", "HeadBucket", 404, "", "NotFound", "Not Found", 404, false},
		"a bucket, refused": {"s3", "HeadBucket", 403, "", "Forbidden", "Forbidden", 403, false},
		"a bucket, moved":   {"s3", "HeadBucket", 301, "", "MovedPermanently", "Moved Permanently: the bucket is in eu-central-1, set this region", 301, false},
	} {
		service := &canned{status: tt.status, header: http.Header{"X-Amz-Bucket-Region": {"eu-central-1"}}, body: []byte(tt.body)}
		counted := &counter{next: service}
		cfg := config("https://service.test")
		cfg.HTTPClient = counted
		op := operation(t, tt.service, tt.operation)
		_, err := awsjob.New(cfg).Call(t.Context(), op, (&sampler{spell: modelName}).value(wholeInput(op), nil))
		var api smithy.APIError
		var response *awshttp.ResponseError
		require.True(t, errors.As(err, &api) && errors.As(err, &response), name)
		require.Equal(t, []any{tt.code, tt.message, tt.wantStatus}, []any{api.ErrorCode(), api.ErrorMessage(), response.HTTPStatusCode()}, name)
		require.Equal(t, tt.retried, counted.requests > 1, name)
	}
}

// S3 sends a success before it knows of an error, which is the service's fault then.
func TestErrorWithStatusOK(t *testing.T) {
	t.Parallel()
	s3, err := models.Load("s3")
	require.NoError(t, err)
	service := &counter{next: &canned{status: http.StatusOK, header: http.Header{}, body: []byte("<Error><Code>InternalError</Code><Message>again</Message></Error>")}}
	cfg := config("https://service.test")
	cfg.HTTPClient = service
	_, err = awsjob.New(cfg).Call(t.Context(), s3.Operations["CopyObject"], map[string]any{"Bucket": "b", "Key": "k", "CopySource": "b/x"})
	var api smithy.APIError
	require.ErrorAs(t, err, &api)
	require.Equal(t, "InternalError: again", api.ErrorCode()+": "+api.ErrorMessage())
	require.Greater(t, service.requests, 1)
}

// A bucket is a part of the host name where it can be one, and a part of the path
// otherwise.
func TestBucketAddresses(t *testing.T) {
	t.Parallel()
	op := operation(t, "s3", "HeadObject")
	for bucket, want := range map[string]string{
		"records":       "records.s3.eu-west-1.amazonaws.com /a%20b/c%2B%C3%BC",
		"my.records":    "s3.eu-west-1.amazonaws.com /my.records/a%20b/c%2B%C3%BC",
		"Old_Bucket":    "s3.eu-west-1.amazonaws.com /Old_Bucket/a%20b/c%2B%C3%BC",
		"evil.host/x":   "s3.eu-west-1.amazonaws.com /evil.host%2Fx/a%20b/c%2B%C3%BC",
		"name-s3alias":  "name-s3alias.s3.eu-west-1.amazonaws.com /a%20b/c%2B%C3%BC",
		"arn:aws:s3:::": "access points named by an ARN are not supported",
		"b--use1--x-s3": "directory buckets are not supported",
	} {
		client := &counter{next: &canned{status: http.StatusOK, header: http.Header{}}}
		cfg := config("")
		cfg.BaseEndpoint, cfg.HTTPClient = nil, client
		_, err := awsjob.New(cfg).Call(t.Context(), op, map[string]any{"Bucket": bucket, "Key": "a b/c+ü"})
		if client.last == nil {
			require.ErrorIs(t, err, awsjob.ErrUnsupported, bucket)
			require.ErrorContains(t, err, want)
			continue
		}
		require.NoError(t, err, bucket)
		require.Equal(t, want, client.last.URL.Host+" "+client.last.URL.EscapedPath(), bucket)
	}

	client := &counter{next: &canned{status: http.StatusOK, header: http.Header{}}}
	cfg := config("https://service.test/s3")
	cfg.HTTPClient = client
	_, err := awsjob.New(cfg).Call(t.Context(), op, map[string]any{"Bucket": "records", "Key": "a"})
	require.NoError(t, err)
	require.Equal(t, "https://service.test/s3/records/a", client.last.URL.String(), "an endpoint of the configuration")

	account := operation(t, "s3control", "DescribeJob")
	cfg = config("")
	cfg.BaseEndpoint, cfg.HTTPClient = nil, client
	_, err = awsjob.New(cfg).Call(t.Context(), account, map[string]any{"AccountId": "123456789012", "JobId": "j"})
	require.NoError(t, err)
	require.Equal(t, "123456789012.s3-control.eu-west-1.amazonaws.com", client.last.URL.Host)
	_, err = awsjob.New(cfg).Call(t.Context(), account, map[string]any{"AccountId": "evil.example.com/", "JobId": "j"})
	require.ErrorContains(t, err, "expected letters, digits and hyphens for AccountId")
}

// What S3 asks of a request, and its model does not say.
func TestS3(t *testing.T) {
	t.Parallel()
	s3, err := models.Load("s3")
	require.NoError(t, err)
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" // SHA-256 of nothing
	tags := map[string]any{"Bucket": "b", "Tagging": map[string]any{"TagSet": []any{}}}
	withSHA1 := map[string]any{"Bucket": "b", "ChecksumAlgorithm": "SHA1", "Tagging": map[string]any{"TagSet": []any{}}}
	for name, tt := range map[string]struct {
		operation          string
		input              map[string]any
		body, answer, want string
		header             map[string]string
	}{
		"no body": {"CreateBucket", map[string]any{"Bucket": "b"}, "", "", "map[]", map[string]string{
			"X-Amz-Content-Sha256": empty, "Accept-Encoding": "identity", "Content-Type": "", "X-Amz-Checksum-Crc32": "",
		}},
		"a checksum": {"PutBucketTagging", tags, `<Tagging xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><TagSet></TagSet></Tagging>`, "", "map[]", map[string]string{
			"X-Amz-Checksum-Crc32": "ouClcw==", "Content-Type": "application/xml",
		}},
		"a checksum of choice": {"PutBucketTagging", withSHA1, `<Tagging xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><TagSet></TagSet></Tagging>`, "", "map[]", map[string]string{
			"X-Amz-Checksum-Sha1": "1+y20vtrjWHgP1QvmILf5FXD7ow=", "X-Amz-Checksum-Crc32": "",
		}},
		"a place": {"GetBucketLocation", map[string]any{"Bucket": "b"}, "", `<?xml version="1.0"?><LocationConstraint xmlns="x">eu-west-1</LocationConstraint>`, "map[LocationConstraint:eu-west-1]", nil},
	} {
		service := &counter{next: &canned{status: http.StatusOK, header: http.Header{}, body: []byte(tt.answer)}}
		cfg := config("https://service.test")
		cfg.HTTPClient = service
		out, err := awsjob.New(cfg).Call(t.Context(), s3.Operations[tt.operation], tt.input)
		require.NoError(t, err, name)
		require.Equal(t, tt.want, fmt.Sprint(out), name)
		for header, want := range tt.header {
			require.Equal(t, want, service.last.Header.Get(header), "%s: %s", name, header)
		}
		require.Equal(t, tt.body, string(service.body), name)
	}
}

// counter counts requests, and keeps the last.
type counter struct {
	next     aws.HTTPClient
	requests int
	last     *http.Request
	body     []byte // of the last
}

// Do implements aws.HTTPClient.
func (c *counter) Do(r *http.Request) (*http.Response, error) {
	c.requests++
	c.last, c.body = r, nil
	if r.Body != nil {
		var err error
		if c.body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	return c.next.Do(r)
}

func modelName(m catalog.Member) string { return m.Name }

func wholeInput(op *catalog.Operation) catalog.Member { return catalog.Member{Shape: op.Input} }
