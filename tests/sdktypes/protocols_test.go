package sdktypes_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	cloudfronttypes "github.com/aws/aws-sdk-go-v2/service/cloudfront/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/elasticache"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/redshift"
	redshifttypes "github.com/aws/aws-sdk-go-v2/service/redshift/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/tests/wire"
)

// clients make the generated clients by the services' keys.
var clients = map[string]func(aws.Config) any{
	"autoscaling":    func(c aws.Config) any { return autoscaling.NewFromConfig(c) },
	"cloudformation": func(c aws.Config) any { return cloudformation.NewFromConfig(c) },
	"cloudfront":     func(c aws.Config) any { return cloudfront.NewFromConfig(c) },
	"ec2":            func(c aws.Config) any { return ec2.NewFromConfig(c) },
	"elasticache":    func(c aws.Config) any { return elasticache.NewFromConfig(c) },
	"elbv2":          func(c aws.Config) any { return elasticloadbalancingv2.NewFromConfig(c) },
	"iam":            func(c aws.Config) any { return iam.NewFromConfig(c) },
	"rds":            func(c aws.Config) any { return rds.NewFromConfig(c) },
	"redshift":       func(c aws.Config) any { return redshift.NewFromConfig(c) },
	"s3": func(c aws.Config) any {
		return s3.NewFromConfig(c, func(o *s3.Options) { o.UsePathStyle = true })
	},
	"sns": func(c aws.Config) any { return sns.NewFromConfig(c) },
	"sqs": func(c aws.Config) any { // random answers have no checksums
		return sqs.NewFromConfig(c, func(o *sqs.Options) { o.DisableMessageChecksumValidation = true })
	},
}

// unionMembers are the types that hold a member of a union, by their names.
var unionMembers = func() map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for _, member := range []any{
		cloudfronttypes.CaCertificatesBundleSourceMemberCaCertificatesBundleS3Location{},
		iamtypes.PolicyIdentifierMemberInlinePolicyIdentifier{},
		iamtypes.PolicyIdentifierMemberPolicyArn{},
		iamtypes.PolicyIdentifierMemberPolicyType{},
		redshifttypes.LakeFormationScopeUnionMemberLakeFormationQuery{},
		redshifttypes.NamespaceIdentifierUnionMemberProvisionedIdentifier{},
		redshifttypes.NamespaceIdentifierUnionMemberServerlessIdentifier{},
		redshifttypes.RedshiftScopeUnionMemberConnect{},
		redshifttypes.S3AccessGrantsScopeUnionMemberReadWriteAccess{},
		redshifttypes.ServiceIntegrationsUnionMemberLakeFormation{},
		redshifttypes.ServiceIntegrationsUnionMemberRedshift{},
		redshifttypes.ServiceIntegrationsUnionMemberS3AccessGrants{},
		s3types.AnalyticsFilterMemberAnd{},
		s3types.AnalyticsFilterMemberPrefix{},
		s3types.AnalyticsFilterMemberTag{},
		s3types.MetricsFilterMemberAccessPointArn{},
		s3types.MetricsFilterMemberAnd{},
		s3types.MetricsFilterMemberPrefix{},
		s3types.MetricsFilterMemberTag{},
		s3types.ObjectEncryptionMemberSSEKMS{},
	} {
		types[reflect.TypeOf(member).Name()] = reflect.TypeOf(member)
	}
	return types
}()

// unionMember is the type of the one member of a union, nil if the SDK has none.
func unionMember(of reflect.Type, name string) reflect.Type {
	return unionMembers[of.Name()+"Member"+goName(name)]
}

// fewest is how many operations must have been compared.
const fewest = 1900

// different are the operations that are not compared, with the reason.
var different = map[string]string{
	"ec2:CopySnapshot":                 "the generated client signs a URL of its own into the request",
	"s3:ListDirectoryBuckets":          "the generated client wants a bucket where the configuration names the endpoint",
	"sqs:ChangeMessageVisibilityBatch": "the generated client sends a number that was not given as 0",
}

// otherItems are operations whose answers are not compared. Their lists call their items
// otherwise than all others of EC2: the generated client passes over any other name,
// awsjob over none, and the catalogue does not keep the names.
var otherItems = []string{
	"CreateLaunchTemplateVersion", "DescribeInstanceTypes", "DescribeLaunchTemplateVersions", "DescribeSpotInstanceRequests", "GetLaunchTemplateData",
	"RequestSpotInstances",
}

// exchange is an HTTP client that keeps the last request, and gives one answer.
type exchange struct {
	answer wire.Answer
	sent   *http.Request
	body   []byte
}

// Do implements aws.HTTPClient.
func (e *exchange) Do(r *http.Request) (*http.Response, error) {
	e.sent, e.body = r, nil
	if r.Body != nil {
		var err error
		if e.body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	return &http.Response{
		StatusCode: e.answer.Status, Header: e.answer.Header.Clone(), Body: io.NopCloser(bytes.NewReader(e.answer.Body)), Request: r,
		ContentLength: int64(len(e.answer.Body)),
	}, nil
}

// awsjob sends what the generated clients send, and reads answers and errors as they do.
func TestProtocols(t *testing.T) {
	passed, total := 0, 0
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(clients)) {
		service, err := models.Load(key)
		require.NoError(t, err)
		require.Equal(t, key, service.Key)
		c := newComparison(t, key)
		for _, name := range slices.Sorted(maps.Keys(service.Operations)) {
			op := service.Operations[name]
			if !c.has(op) {
				continue
			}
			total++
			what := c.compare(op)
			reason := different[key+":"+name]
			switch {
			case reason != "": // and some random values may not show it
			case what == "":
				passed++
			default:
				lines = append(lines, fmt.Sprintf("%s:%s: %s", key, name, what))
			}
		}
	}
	fmt.Fprintf(os.Stdout, "suite protocols: passed %d of %d\n", passed, total)
	for _, name := range slices.Sorted(maps.Keys(different)) {
		fmt.Fprintf(os.Stdout, "  differs: %s: %s\n", name, different[name])
	}
	require.Empty(t, lines, strings.Join(lines, "\n"))
	require.GreaterOrEqual(t, passed, fewest)
}

// comparison compares the calls of one service.
type comparison struct {
	t        *testing.T
	protocol catalog.Protocol
	sdk      reflect.Value // the generated client
	job      *awsjob.Client
	exchange *exchange
	random   *rand.Rand
}

func newComparison(t *testing.T, key string) *comparison {
	t.Helper()
	e := &exchange{}
	cfg := aws.Config{
		Region: "eu-west-1", HTTPClient: e, BaseEndpoint: aws.String("https://service.test"),
		Credentials: credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "secret", ""),
		Retryer:     func() aws.Retryer { return aws.NopRetryer{} },
		// As the package config has it.
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenSupported,
	}
	service, err := models.Load(key)
	require.NoError(t, err)
	return &comparison{
		t: t, protocol: service.Protocols[0], sdk: reflect.ValueOf(clients[key](cfg)), job: awsjob.New(cfg), exchange: e,
		random: rand.New(rand.NewPCG(*seed, 1)),
	}
}

// has tells whether the generated client has the operation, with a body that is not a
// stream.
func (c *comparison) has(op *catalog.Operation) bool {
	method := c.sdk.MethodByName(op.Name)
	if !method.IsValid() {
		return false
	}
	in, out := method.Type().In(1).Elem(), method.Type().Out(0).Elem()
	for _, side := range []struct {
		shape *catalog.Shape
		of    reflect.Type
	}{{op.Input, in}, {op.Output, out}} {
		if side.shape == nil {
			continue
		}
		for _, m := range side.shape.Members {
			field, has := side.of.FieldByName(goName(m.Name))
			if has && (field.Type == reflect.TypeFor[io.Reader]() || field.Type == reflect.TypeFor[io.ReadCloser]()) {
				return false
			}
		}
	}
	if _, streams := reflect.PointerTo(out).MethodByName("GetStream"); streams {
		return false
	}
	return true
}

// compare says in what the two differ, empty for nothing.
func (c *comparison) compare(op *catalog.Operation) string {
	method := c.sdk.MethodByName(op.Name)
	g := &wire.Generator{Rand: c.random, Protocol: c.protocol, Plain: true}
	for range 3 {
		in := reflect.New(method.Type().In(1).Elem())
		input := g.Structure(op.Input)
		delete(input, "ChecksumAlgorithm") // of which the client does not know all
		kept := assign(op.Input, input, in.Elem())
		output := g.Structure(op.Output)
		prune(output, method.Type().Out(0))
		c.exchange.answer = wire.Succeed(c.protocol, op, output)
		results := method.Call([]reflect.Value{reflect.ValueOf(c.t.Context()), in})
		if err, _ := results[1].Interface().(error); err != nil {
			return fmt.Sprintf("the SDK's client: %v: %s", err, c.exchange.answer.Body)
		}
		want := c.request()
		got, err := c.job.Call(c.t.Context(), op, kept)
		if err != nil {
			return err.Error()
		}
		if what := differ("the request", want, c.request()); what != "" {
			return what
		}
		read, sdkRead := normalize(op.Output, got, results[0].Type().Elem()), normalize(op.Output, export(op.Output, results[0]), results[0].Type().Elem())
		if what := differ("the answer", sdkRead, read); what != "" && !(c.protocol == catalog.EC2Query && slices.Contains(otherItems, op.Name)) {
			return what
		}
	}
	return c.compareErrors(op, g)
}

// prune leaves one member of what is a structure in the model and a union in the SDK.
func prune(v any, of reflect.Type) {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch v := v.(type) {
	case map[string]any:
		for i, name := range slices.Sorted(maps.Keys(v)) {
			switch of.Kind() {
			case reflect.Struct:
				if field, has := of.FieldByName(goName(name)); has {
					prune(v[name], field.Type)
				}
			case reflect.Map:
				prune(v[name], of.Elem())
			default:
				if i > 0 {
					delete(v, name)
				}
			}
		}
		if len(v) == 0 && of.Kind() == reflect.Interface {
			v["Prefix"] = "of a filter"
		}
	case []any:
		for _, item := range v {
			prune(item, of.Elem())
		}
	}
}

// differ says where two values differ first, empty for nowhere.
func differ(where string, sdk, ours any) string {
	if reflect.DeepEqual(sdk, ours) {
		return ""
	}
	a, isObject := sdk.(map[string]any)
	b, areObjects := ours.(map[string]any)
	if isObject && areObjects {
		names := maps.Clone(a)
		maps.Copy(names, b)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if what := differ(where+"."+name, a[name], b[name]); what != "" {
				return what
			}
		}
	}
	list, isList := sdk.([]any)
	other, areLists := ours.([]any)
	if isList && areLists && len(list) == len(other) {
		for i := range list {
			if what := differ(fmt.Sprintf("%s[%d]", where, i), list[i], other[i]); what != "" {
				return what
			}
		}
	}
	return fmt.Sprintf("%s: the SDK has %v, awsjob %v", where, sdk, ours)
}

// compareErrors compares what errors are called.
func (c *comparison) compareErrors(op *catalog.Operation, g *wire.Generator) string {
	method := c.sdk.MethodByName(op.Name)
	in := reflect.New(method.Type().In(1).Elem())
	input := g.Structure(op.Input)
	delete(input, "ChecksumAlgorithm")
	kept := assign(op.Input, input, in.Elem())
	for _, declared := range append(slices.Clone(op.Errors), catalog.Error{Shape: "NobodyDeclaresThis", Status: 400}, catalog.Error{Shape: "Throttling", Status: 503}) {
		code := declared.Shape
		if declared.Code != "" && c.protocol == catalog.AWSQuery {
			code = declared.Code
		}
		c.exchange.answer = wire.Refuse(c.protocol, op, code, "it's <not> & so", max(400, declared.Status))
		_, err := c.job.Call(c.t.Context(), op, kept)
		results := method.Call([]reflect.Value{reflect.ValueOf(c.t.Context()), in})
		want, _ := results[1].Interface().(error)
		got, sdk := describeError(err), describeError(want)
		if strings.HasSuffix(sdk, ": ") { // the model's error has no message
			got, _, _ = strings.Cut(got, ": ")
			got += ": "
		}
		if got != sdk {
			return fmt.Sprintf("the error %s is %s, by the SDK %s", code, got, sdk)
		}
	}
	return ""
}

func describeError(err error) string {
	var api smithy.APIError
	var response interface{ HTTPStatusCode() int }
	if !errors.As(err, &api) || !errors.As(err, &response) {
		return fmt.Sprintf("no error of a service: %v", err)
	}
	return fmt.Sprintf("%d %s: %s", response.HTTPStatusCode(), api.ErrorCode(), api.ErrorMessage())
}

// unlike are headers that differ from request to request, or that name the sender.
var unlike = []string{"Authorization", "User-Agent", "X-Amz-User-Agent", "Amz-Sdk-Invocation-Id", "Amz-Sdk-Request", "X-Amz-Date", "X-Amz-Content-Sha256"}

// request is the last request in a form that does not depend on the order of what has
// none.
func (c *comparison) request() map[string]any {
	header := c.exchange.sent.Header
	contentType := header.Get("Content-Type")
	for _, name := range unlike {
		header.Del(name)
	}
	if sum := header.Get("X-Amz-Checksum-Crc32"); sum != "" { // of a body whose elements have no order
		crc := binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(c.exchange.body))
		header.Set("X-Amz-Checksum-Crc32", fmt.Sprintf("right: %t", sum == base64.StdEncoding.EncodeToString(crc)))
	}
	body := any(string(c.exchange.body))
	switch {
	case len(c.exchange.body) == 0:
		header.Del("Content-Type")
	case strings.Contains(contentType, "urlencoded"):
		values, _ := url.ParseQuery(string(c.exchange.body))
		body = objectOf(values)
	case strings.Contains(contentType, "json"):
		_ = json.Unmarshal(c.exchange.body, &body)
	case strings.Contains(contentType, "xml"):
		var root element
		if err := xml.Unmarshal(c.exchange.body, &root); err == nil {
			body = root.value()
		}
	}
	u := c.exchange.sent.URL
	query := u.Query()
	query.Del("x-id") // the operation's name, which S3 does not read
	return map[string]any{
		"method": c.exchange.sent.Method, "host": u.Host, "path": strings.TrimSuffix(u.EscapedPath(), "/"), "query": objectOf(query), "header": objectOf(c.exchange.sent.Header), "body": body,
	}
}

func objectOf[M ~map[string][]string](values M) map[string]any {
	object := map[string]any{}
	for name, list := range values {
		object[name] = strings.Join(list, ",")
	}
	return object
}

// element is one of XML.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []element  `xml:",any"`
}

// value is the element without the order of children of different names.
func (e *element) value() any {
	text := e.Text
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		text = fmt.Sprint(n) // 1e+06 is 1000000
	}
	object := map[string]any{"": text, "name": e.XMLName.Space + " " + e.XMLName.Local}
	for _, a := range e.Attrs {
		object["@"+a.Name.Space+":"+a.Name.Local] = a.Value
	}
	for _, child := range e.Children {
		list, _ := object[child.XMLName.Local].([]any)
		object[child.XMLName.Local] = append(list, child.value())
	}
	return object
}

// assign gives a value to a field of the SDK's types, and returns what of it they can
// hold.
func assign(s *catalog.Shape, v any, to reflect.Value) any {
	if to.Kind() == reflect.Pointer {
		to.Set(reflect.New(to.Type().Elem()))
		return assign(s, v, to.Elem())
	}
	switch v := v.(type) {
	case map[string]any:
		kept := map[string]any{}
		if to.Kind() == reflect.Map {
			to.Set(reflect.MakeMap(to.Type()))
			for key, item := range v {
				field := reflect.New(to.Type().Elem()).Elem()
				kept[key] = assign(s.Element.Shape, item, field)
				to.SetMapIndex(reflect.ValueOf(key).Convert(to.Type().Key()), field)
			}
			return kept
		}
		if to.Kind() == reflect.Interface {
			for name, item := range v { // the one
				member := reflect.New(unionMember(to.Type(), name))
				kept[name] = assign(s.Member(name).Shape, item, member.Elem().FieldByName("Value"))
				to.Set(member)
			}
			return kept
		}
		for name, item := range v {
			field := to.FieldByName(goName(name))
			if !field.IsValid() || !holds(field.Type(), s.Member(name).Shape) || !chosen(field.Type(), item) {
				continue
			}
			value := assign(s.Member(name).Shape, item, field)
			if zero := field.IsZero(); !zero { // else the client does not send it
				kept[name] = value
			}
		}
		return kept
	case []any:
		kept := []any{}
		to.Set(reflect.MakeSlice(to.Type(), 0, len(v)))
		for _, item := range v {
			field := reflect.New(to.Type().Elem()).Elem()
			if !holds(field.Type(), s.Element.Shape) || !chosen(field.Type(), item) {
				continue
			}
			kept = append(kept, assign(s.Element.Shape, item, field))
			to.Set(reflect.Append(to, field))
		}
		return kept
	}
	assignSimple(s, v, to)
	return v
}

// chosen tells whether the SDK knows the one member of what is a union there.
func chosen(of reflect.Type, v any) bool {
	if of.Kind() != reflect.Interface {
		return true
	}
	prune(v, of)
	for name := range v.(map[string]any) {
		return unionMember(of, name) != nil
	}
	return false
}

// holds tells whether the SDK has such values for a member: its types are not of the
// day of the models.
func holds(of reflect.Type, s *catalog.Shape) bool {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	isTime, isBytes := of == reflect.TypeFor[time.Time](), of == reflect.TypeFor[[]byte]()
	switch s.Type {
	case catalog.Structure, catalog.Union:
		return of.Kind() == reflect.Struct && !isTime || of.Kind() == reflect.Interface
	case catalog.Map:
		return of.Kind() == reflect.Map
	case catalog.List:
		return of.Kind() == reflect.Slice && !isBytes
	case catalog.Boolean:
		return of.Kind() == reflect.Bool
	case catalog.Integer, catalog.Long, catalog.Float, catalog.Double:
		return reflect.Zero(of).CanInt() || reflect.Zero(of).CanFloat()
	case catalog.Timestamp:
		return isTime || of.Kind() == reflect.String
	case catalog.Blob:
		return isBytes
	default:
		return of.Kind() == reflect.String
	}
}

func assignSimple(s *catalog.Shape, v any, to reflect.Value) {
	switch v := v.(type) {
	case bool:
		to.SetBool(v)
	case json.Number:
		if to.CanInt() {
			n, _ := v.Int64()
			to.SetInt(n)
			return
		}
		n, _ := v.Float64()
		to.SetFloat(n)
	case string:
		switch s.Type {
		case catalog.Timestamp:
			if to.Kind() == reflect.String {
				to.SetString(v)
				return
			}
			at, _ := time.Parse(time.RFC3339Nano, v)
			to.Set(reflect.ValueOf(at))
		case catalog.Blob:
			bytes, _ := base64.StdEncoding.DecodeString(v)
			to.SetBytes(bytes)
		default:
			to.SetString(v)
		}
	}
}

// export makes of the SDK's value one as awsjob has.
func export(s *catalog.Shape, v reflect.Value) any {
	if v.Kind() == reflect.Interface && !v.IsNil() {
		member := v.Elem().Elem() // the pointer's
		for _, m := range s.Members {
			if unionMember(v.Type(), m.Name) == member.Type() {
				return map[string]any{m.Name: export(m.Shape, member.FieldByName("Value"))}
			}
		}
		return nil
	}
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	switch x := v.Interface().(type) {
	case time.Time:
		return x.UTC().Format(time.RFC3339Nano)
	case []byte:
		return base64.StdEncoding.EncodeToString(x)
	}
	switch {
	case v.Kind() == reflect.Struct:
		object := map[string]any{}
		if s == nil {
			return object
		}
		for _, m := range s.Members {
			if field := v.FieldByName(goName(m.Name)); field.IsValid() {
				object[m.Name] = export(m.Shape, field)
			}
		}
		return object
	case v.Kind() == reflect.Slice:
		list := []any{}
		for i := range v.Len() {
			list = append(list, export(s.Element.Shape, v.Index(i)))
		}
		return list
	case v.Kind() == reflect.Map:
		object := map[string]any{}
		for _, key := range v.MapKeys() {
			object[key.String()] = export(s.Element.Shape, v.MapIndex(key))
		}
		return object
	case v.Kind() == reflect.String:
		return v.String()
	case v.Kind() == reflect.Bool:
		return v.Bool()
	case v.CanInt():
		return json.Number(fmt.Sprint(v.Int()))
	default:
		return json.Number(fmt.Sprint(v.Float()))
	}
}

// normalize leaves out what the SDK's types do not hold, or cannot tell from nothing.
func normalize(s *catalog.Shape, v any, of reflect.Type) any {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch v := v.(type) {
	case map[string]any:
		object := map[string]any{}
		for name, item := range v {
			if of.Kind() == reflect.Map {
				object[name] = normalize(s.Element.Shape, item, of.Elem())
				continue
			}
			if of.Kind() == reflect.Interface {
				if member := unionMember(of, name); member != nil {
					object[name] = normalize(s.Member(name).Shape, item, member.Field(0).Type)
				}
				continue
			}
			field, has := of.FieldByName(goName(name))
			if !has || !holds(field.Type, s.Member(name).Shape) || item == nil {
				continue
			}
			value := normalize(s.Member(name).Shape, item, field.Type)
			if !isNothing(value, field.Type) {
				object[name] = value
			}
		}
		return object
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = normalize(s.Element.Shape, item, of.Elem())
		}
		return list
	case json.Number:
		f, _ := v.Float64()
		return f
	default:
		return v
	}
}

func isNothing(v any, of reflect.Type) bool {
	switch v := v.(type) {
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0 && of.Kind() == reflect.Map
	case string:
		return v == "" && of.Kind() != reflect.Pointer
	case bool:
		return !v && of.Kind() != reflect.Pointer
	case float64:
		return v == 0 && of.Kind() != reflect.Pointer
	default:
		return false
	}
}
