package deploy_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/pypi"
)

// What follows is a schema in JSON, as this program hands it to itself when it is
// the provider.

// schema is what a provider has.
type schema struct {
	Resources   map[string]*block `json:"resources"`
	DataSources map[string]*block `json:"dataSources"`
}

// block is what may stand between braces.
type block struct {
	Attributes map[string]attribute `json:"attributes"`
	Blocks     map[string]nested    `json:"blocks"`
}

// attribute has a type in the JSON form of Terraform.
type attribute struct {
	Type     json.RawMessage `json:"type"`
	Required bool            `json:"required"`
	Optional bool            `json:"optional"`
	Computed bool            `json:"computed"`
}

// nested is a block in a block. Mode is list, set or single.
type nested struct {
	Mode  string `json:"mode"`
	Min   int64  `json:"min"`
	Max   int64  `json:"max"`
	Block *block `json:"block"`
}

// types are the resources and data sources that the samples use.
var (
	resourceTypes = []string{
		"aws_cloudwatch_log_group", "aws_cloudwatch_metric_alarm", "aws_iam_role", "aws_iam_role_policy", "aws_lambda_function",
		"aws_s3_bucket", "aws_s3_bucket_lifecycle_configuration", "aws_s3_bucket_ownership_controls", "aws_s3_bucket_policy",
		"aws_s3_bucket_public_access_block", "aws_s3_bucket_server_side_encryption_configuration", "aws_sfn_state_machine",
	}
	dataSourceTypes = []string{"aws_caller_identity", "aws_partition"}
)

// readSchema reads the schema of the AWS provider from TypeScript bindings that
// were generated from it. They have each attribute with its type, whether it is
// required, optional or computed, and each block. What they do not have: what
// values an attribute takes, which attributes exclude each other, and how many
// blocks there may be other than none, one or any number.
func readSchema(t *testing.T) *schema {
	t.Helper()
	wanted := map[string]func(*block){} // by the name of the file
	s := &schema{Resources: map[string]*block{}, DataSources: map[string]*block{}}
	for _, name := range resourceTypes {
		wanted[strings.ReplaceAll(name, "_", "-")+".js"] = func(b *block) { s.Resources[name] = b }
	}
	for _, name := range dataSourceTypes {
		wanted["data-"+strings.ReplaceAll(name, "_", "-")+".js"] = func(b *block) { s.DataSources[name] = b }
	}
	for name, text := range bindings(t, func(name string) bool { return wanted[name] != nil }) {
		b, err := blockOf(text)
		require.NoError(t, err, name)
		wanted[name](b)
	}
	require.Len(t, s.Resources, len(resourceTypes))
	require.Len(t, s.DataSources, len(dataSourceTypes))
	return s
}

// bindings are the TypeScript sources of files of the bindings, by the name of the
// compiled file.
func bindings(t *testing.T, want func(name string) bool) map[string]string {
	t.Helper()
	packages, err := pypi.Download(t.Context(), "provider.txt")
	require.NoError(t, err)
	wheels, err := filepath.Glob(filepath.Join(packages, "*.whl"))
	require.NoError(t, err)
	require.Len(t, wheels, 1)
	wheel, err := zip.OpenReader(wheels[0])
	require.NoError(t, err)
	defer wheel.Close()
	i := slices.IndexFunc(wheel.File, func(f *zip.File) bool { return strings.HasSuffix(f.Name, ".jsii.tgz") })
	require.GreaterOrEqual(t, i, 0)
	packed, err := wheel.File[i].Open()
	require.NoError(t, err)
	unzipped, err := gzip.NewReader(packed)
	require.NoError(t, err)
	found := map[string]string{}
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		require.NoError(t, err)
		name := path.Base(header.Name)
		if !want(name) {
			continue
		}
		text, err := io.ReadAll(files)
		require.NoError(t, err)
		_, encoded, ok := bytes.Cut(text, []byte("sourceMappingURL=data:application/json;base64,"))
		require.True(t, ok, "%s has no source map", name)
		decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(encoded)))
		require.NoError(t, err)
		var sourceMap struct {
			SourcesContent []string `json:"sourcesContent"`
		}
		require.NoError(t, json.Unmarshal(decoded, &sourceMap))
		require.Len(t, sourceMap.SourcesContent, 1)
		found[name] = sourceMap.SourcesContent[0]
	}
}

var (
	classes = regexp.MustCompile(`(?m)^export class (\w+) extends cdktn\.(\w+) \{$`)
	members = regexp.MustCompile(`(?s)// (\w+) - computed: (\w+), optional: (\w+), required: (\w+)\n(.*?\n *\}|.*?;\n)`)
	// isMember tells what kind of member it is by what it returns or is.
	getter    = regexp.MustCompile(`return (cdktn\.Fn\.tolist\()?this\.get(\w+?)Attribute\('`)
	reference = regexp.MustCompile(`new (?:\w+\.)?(\w+?)(OutputReference|List|Map)\(this, "\w+"(?:, (\w+))?\)`)
	functions = regexp.MustCompile(`(?ms)^export function \w+?ToHclTerraform\(struct\?: (?:\w+\.)?(\w+).*?^\}$`)
	synthesis = regexp.MustCompile(`(?ms)^  protected (?:override )?synthesizeHclAttributes\(\).*?^  \}$`)
	inHCL     = regexp.MustCompile(`(?s)(\w+): \{\s+value: .*?isBlock: (true|false),\s+type: "(\w+)"`)
)

// typeOf are the types of attributes by the getter of a binding.
var typeOf = map[string]string{
	"String": `"string"`, "Number": `"number"`, "Boolean": `"bool"`,
	"List": `["list","string"]`, "StringMap": `["map","string"]`, "BooleanMap": `["map","bool"]`, "NumberMap": `["map","number"]`,
	"NumberList": `["list","number"]`,
}

// class is one of the bindings' classes: the members, and how HCL has them.
type class struct {
	members string
	hcl     map[string]inBlock
}

type inBlock struct {
	isBlock bool
	kind    string
}

// blockOf reads a resource or data source.
func blockOf(source string) (*block, error) {
	hcl := map[string]map[string]inBlock{}
	take := func(class, text string) {
		hcl[class] = map[string]inBlock{}
		for _, found := range inHCL.FindAllStringSubmatch(text, -1) {
			hcl[class][found[1]] = inBlock{found[2] == "true", found[3]}
		}
	}
	for _, found := range functions.FindAllStringSubmatch(source, -1) {
		take(strings.TrimSuffix(found[1], "OutputReference"), found[0])
	}
	top := ""
	found := map[string]class{}
	starts := classes.FindAllStringSubmatchIndex(source, -1)
	for i, at := range starts {
		end := len(source)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		name, text := source[at[2]:at[3]], source[at[1]:end]
		switch kind := source[at[4]:at[5]]; kind {
		case "TerraformResource", "TerraformDataSource":
			top = name
			take(name, synthesis.FindString(text))
			// What follows up to the next class are functions.
			text, _, _ = strings.Cut(text, "synthesizeAttributes()")
		case "ComplexObject":
			name = strings.TrimSuffix(name, "OutputReference")
		default: // lists of these
			continue
		}
		found[name] = class{text, hcl[name]}
	}
	if top == "" {
		return nil, errors.New("there is no class of a resource or data source")
	}
	return blockOfClass(found, top)
}

func blockOfClass(all map[string]class, name string) (*block, error) {
	c, ok := all[name]
	if !ok {
		return nil, fmt.Errorf("there is no class %s", name)
	}
	b := &block{Attributes: map[string]attribute{}, Blocks: map[string]nested{}}
	for _, m := range members.FindAllStringSubmatch(c.members, -1) {
		name, text := m[1], m[5]
		a := attribute{Computed: m[2] == "true", Optional: m[3] == "true", Required: m[4] == "true"}
		if r := reference.FindStringSubmatch(text); r != nil {
			if _, ok := c.hcl[name]; !ok && !a.Optional && !a.Required { // the service's alone
				a.Type = json.RawMessage(`"dynamic"`)
				b.Attributes[name] = a
				continue
			}
			if !c.hcl[name].isBlock {
				return nil, fmt.Errorf("%s is not a block, and an attribute of a type that is not read", name)
			}
			inner, err := blockOfClass(all, r[1])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			n := nested{Mode: c.hcl[name].kind, Block: inner}
			switch {
			case n.Mode == "struct":
				n.Mode = "single"
			case r[2] == "OutputReference":
				n.Max = 1
			}
			if a.Required && n.Mode != "single" {
				n.Min = 1
			}
			b.Blocks[name] = n
			continue
		}
		g := getter.FindStringSubmatch(m[0] + c.members[strings.Index(c.members, m[0])+len(m[0]):])
		if g == nil || typeOf[g[2]] == "" {
			return nil, fmt.Errorf("the type of %s is not known: %s", name, text)
		}
		kind := typeOf[g[2]]
		if g[1] != "" {
			kind = strings.Replace(kind, "list", "set", 1)
		}
		a.Type = json.RawMessage(kind)
		b.Attributes[name] = a
	}
	return b, nil
}

// The schema has what is known of the provider from elsewhere.
func TestSchema(t *testing.T) {
	t.Parallel()
	s := readSchema(t)
	machine := s.Resources["aws_sfn_state_machine"]
	require.True(t, machine.Attributes["definition"].Required && machine.Attributes["role_arn"].Required)
	require.True(t, machine.Attributes["arn"].Computed && !machine.Attributes["arn"].Optional)
	require.Equal(t, int64(1), machine.Blocks["logging_configuration"].Max)
	require.Contains(t, machine.Blocks["logging_configuration"].Block.Attributes, "log_destination")
	rule := s.Resources["aws_s3_bucket_lifecycle_configuration"].Blocks["rule"]
	require.True(t, rule.Block.Attributes["status"].Required)
	require.JSONEq(t, `["list","string"]`, string(s.Resources["aws_lambda_function"].Attributes["architectures"].Type))
	require.JSONEq(t, `["set","string"]`, string(s.Resources["aws_cloudwatch_metric_alarm"].Attributes["alarm_actions"].Type))
}
