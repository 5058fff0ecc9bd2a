package models_test

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
)

func member(t *testing.T, shape *catalog.Shape, names ...string) *catalog.Shape {
	t.Helper()
	for _, name := range names {
		m := shape.Member(name)
		require.NotNil(t, m, "%s has no member %s", shape.Name, name)
		shape = m.Shape
	}
	return shape
}

func TestLoad(t *testing.T) {
	t.Parallel()
	lambda, err := models.Load("lambda")
	require.NoError(t, err)
	get := lambda.Operations["GetFunction"]
	memory := member(t, get.Output, "Configuration", "MemorySize")
	require.Equal(t, catalog.Integer, memory.Type)
	require.Equal(t, "128", memory.Min.String())
	require.NotEmpty(t, memory.Max)
	name := get.Input.Member("FunctionName")
	require.True(t, name.Required)
	ssm, err := models.Load("ssm")
	require.NoError(t, err)
	require.Equal(t, "[a-fA-F0-9]{8}-[a-fA-F0-9]{4}-[a-fA-F0-9]{4}-[a-fA-F0-9]{4}-[a-fA-F0-9]{12}",
		ssm.Operations["StartAutomationExecution"].Input.Member("ClientToken").Shape.Pattern)
	require.Contains(t, member(t, get.Output, "Configuration", "State").Enum, "Active")
	var errors []string
	for _, e := range get.Errors {
		errors = append(errors, e.Shape)
	}
	require.Contains(t, errors, "ResourceNotFoundException")

	kms, err := models.Load("kms")
	require.NoError(t, err)
	blob := member(t, kms.Operations["Encrypt"].Output, "CiphertextBlob")
	require.Equal(t, catalog.Blob, blob.Type)
	require.Equal(t, "1", blob.Min.String())

	sfn, err := models.Load("sfn")
	require.NoError(t, err)
	again, err := models.Load("stepfunctions")
	require.NoError(t, err)
	require.Same(t, sfn, again)
	require.True(t, sfn.Operations["StartExecution"].Output.Member("executionArn").Required)

	_, err = models.Load("lambada")
	require.ErrorIs(t, err, catalog.ErrNotFound)
	require.ErrorContains(t, err, `did you mean "lambda"?`)
}

// Every file is read, each service is found by its names, and the numbers are
// those that docs/reference/catalog.md says.
func TestEveryServiceIsWhole(t *testing.T) {
	t.Parallel()
	list, err := models.List()
	require.NoError(t, err)
	operations := 0
	for _, l := range list {
		s, err := models.Load(l.Key)
		require.NoError(t, err, l.Key)
		l.Entries = nil
		require.Equal(t, l, s.Listing())
		operations += len(s.Operations)
		byARN, err := models.Load(l.ARNName)
		require.NoError(t, err, l.ARNName)
		require.Equal(t, s.Name, byARN.Name, l.ARNName)
	}
	require.Len(t, list, 445)
	require.Equal(t, 20027, operations)
}

// What waiters and jobs call is the same here and in the catalogue.
func TestModelsAgreeWithTheCatalogue(t *testing.T) {
	t.Parallel()
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	for _, l := range list {
		known, err := catalog.AWS().Service(l.Key)
		require.NoError(t, err)
		model, err := models.Load(l.Key)
		require.NoError(t, err)
		require.Equal(t, []string{known.ARNName, known.ErrorPrefix, known.IAMPrefix}, []string{model.ARNName, model.ErrorPrefix, model.IAMPrefix}, l.Key)
		for name, o := range known.Operations {
			require.Contains(t, model.Operations, name, l.Key)
			require.Equal(t, endpoint(o), endpoint(model.Operations[name]), "%s %s", l.Key, name)
			for _, shapes := range [][2]*catalog.Shape{{o.Input, model.Operations[name].Input}, {o.Output, model.Operations[name].Output}} {
				if shapes[0] == nil {
					require.Nil(t, shapes[1])
					continue
				}
				require.Equal(t, shapes[0].Type, shapes[1].Type)
				require.Len(t, shapes[1].Members, len(shapes[0].Members), "%s %s", l.Key, shapes[0].Name)
			}
		}
	}
}

// endpoint is the operation's own, or that of its service.
func endpoint(o *catalog.Operation) catalog.Endpoint {
	if o.Endpoint != nil {
		return *o.Endpoint
	}
	return o.Service.Endpoint
}

// An operation is the catalogue's, with all that is known of it, or that of the model.
func TestOperation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ service, operation, key, action string }{
		{"dynamodb", "DescribeLimits", "dynamodb", "dynamodb:DescribeLimits"},
		{"Cognito Identity Provider", "DescribeUserPool", "cognito-idp", "cognito-idp:DescribeUserPool"},
		// The catalogue knows these keys as names of other services, too: of opensearch and eventbridgev2.
		{"es", "DescribeElasticsearchDomain", "es", "es:DescribeElasticsearchDomain"},
		{"events", "ListRules", "events", "events:ListRules"},
	} {
		o, err := models.Operation(c.service, c.operation)
		require.NoError(t, err)
		require.Equal(t, []string{c.key, c.operation, c.action}, []string{o.Service.Key, o.Name, o.Actions[0]})
		model, err := models.Load(c.key)
		require.NoError(t, err)
		require.Same(t, model, o.Service)
		require.Empty(t, model.Operations[c.operation].Actions, "the data is shared")
	}
	known, err := catalog.AWS().Operation("s3", "HeadObject")
	require.NoError(t, err)
	found, err := models.Operation("S3", "HeadObject")
	require.NoError(t, err)
	require.Same(t, known, found)

	for _, c := range []struct{ service, operation, message string }{
		{"cognito-idb", "DescribeUserPool", `the catalogue has no service "cognito-idb" (did you mean "cognito-idp"?)`},
		{"cognito-idp", "DescribeUserPol", `cognito-idp has no operation "DescribeUserPol" (did you mean "DescribeUserPool"?)`},
		{"es", "DescribeApplication", `es has no operation "DescribeApplication"`},
	} {
		_, err := models.Operation(c.service, c.operation)
		require.ErrorIs(t, err, catalog.ErrNotFound)
		require.ErrorContains(t, err, c.message)
	}
}

// A clone and a program that imports the package stay small.
func TestDataIsSmall(t *testing.T) {
	t.Parallel()
	const most, mostOfOne = 5 << 20, 1500 << 10
	all := int64(0)
	require.NoError(t, fs.WalkDir(os.DirFS("data"), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		require.NoError(t, err)
		require.LessOrEqual(t, info.Size(), int64(mostOfOne), name)
		all += info.Size()
		return nil
	}))
	require.LessOrEqual(t, all, int64(most))
}

// Each token of a start call takes a UUID, which lint advises.
func TestTokensTakeAUUID(t *testing.T) {
	t.Parallel()
	const uuid = "0b7c1ad4-1d1c-4ba3-9f0e-6f1d0c5d2a17"
	code := regexp.MustCompile(`\\u([0-9A-F]{4})`) // as Java spells a character; no UUID has a surrogate
	tokens := 0
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	for _, l := range list {
		service, err := models.Load(l.Key)
		require.NoError(t, err)
		for _, listed := range l.Entries {
			e, err := catalog.Lookup(l.Key, listed.Name)
			require.NoError(t, err)
			token, _ := e.StartToken()
			if token == "" {
				continue
			}
			tokens++
			shape := member(t, service.Operations[e.Name].Input, strings.Split(token, ".")...)
			least, _ := shape.Min.Int64()
			most, err := shape.Max.Int64()
			require.LessOrEqual(t, least, int64(len(uuid)), e.FullName())
			require.True(t, err != nil || most >= int64(len(uuid)), e.FullName())
			if shape.Pattern == "" {
				continue
			}
			pattern := code.ReplaceAllString(strings.ReplaceAll(shape.Pattern, `\uD800\uDC00-\uDBFF\uDFFF`, ""), `\x{$1}`)
			require.Regexp(t, "^(?:"+pattern+")$", uuid, e.FullName())
		}
	}
	require.Greater(t, tokens, 50)
}
