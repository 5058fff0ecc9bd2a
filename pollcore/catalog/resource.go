package catalog

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Naming says which members of the start call's input name a resource, by their
// paths. A path goes through lists to each of their elements.
type Naming struct {
	// Name has members with its name or its ARN, ARN those with its ARN alone, and S3
	// those with the URL of an object or a prefix in a bucket: s3://bucket/key, or that
	// of https.
	Name []string `json:"name,omitempty"`
	ARN  []string `json:"arn,omitempty"`
	S3   []string `json:"s3,omitempty"`
	// Optional tells that a call without these members has no such resource. Of
	// members with an ARN alone that is so anyway.
	Optional bool `json:"optional,omitempty"`
}

// Members are the paths of all members.
func (n Naming) Members() []string { return slices.Concat(n.Name, n.ARN, n.S3) }

// ofPlaceholder is a part of an ARN that the catalogue leaves open, such as
// ${TableName}.
var ofPlaceholder = regexp.MustCompile(`\$\{([^}]*)\}`)

// anyName stands for what is not known of an ARN.
const anyName = "*"

// On returns the ARNs that a resource of the job's permissions stands for in a start
// call with these arguments, which may have members as SDK integrations spell them,
// tokens of the CDK, and expressions of a state machine. Nil arguments are not known. An
// asterisk stands for each part that they do not name literally, and members are the
// paths that do so when the call is made. There are no ARNs where the call names no
// such resource, or where it is optional and the arguments are not known. A nil job
// has no names.
func (j *Job) On(resource string, arguments map[string]any) (arns, members []string) {
	all := []partARN{{rest: resource}}
	for {
		at := slices.IndexFunc(all, func(p partARN) bool { return strings.Contains(p.rest, "${") })
		if at < 0 {
			break
		}
		before, placeholder, after := all[at].next()
		naming, isNamed := j.naming(placeholder)
		if !isNamed {
			all[at] = partARN{before + anyName, after}
			continue
		}
		values, isKnown := naming.in(arguments)
		switch {
		case naming.Optional && arguments == nil:
			return nil, nil // most calls do without
		case !isKnown || len(values) == 0 && arguments == nil:
		case len(values) > 0:
			var named []partARN
			for _, value := range values {
				named = append(named, partARN{before, after}.name(value, resource))
			}
			all = slices.Replace(all, at, at+1, named...)
			continue
		case naming.Optional || len(naming.Name)+len(naming.S3) == 0:
			return nil, nil // the call has no such resource
		}
		for _, member := range naming.Members() {
			if !slices.Contains(members, member) {
				members = append(members, member)
			}
		}
		all[at] = partARN{before + anyName, after}
	}
	for _, p := range all {
		if arn := p.done + p.rest; !slices.Contains(arns, arn) {
			arns = append(arns, arn)
		}
	}
	return arns, members
}

// isOptional tells whether an argument that calls may do without names the resource.
func (j *Job) isOptional(resource string) bool {
	for _, at := range ofPlaceholder.FindAllStringSubmatch(resource, -1) {
		if j.Names[at[1]].Optional {
			return true
		}
	}
	return false
}

func (j *Job) naming(placeholder string) (Naming, bool) {
	if j == nil {
		return Naming{}, false
	}
	naming, ok := j.Names[placeholder]
	return naming, ok
}

// partARN is an ARN whose placeholders are filled in from its start.
type partARN struct{ done, rest string }

// next cuts the rest at its first placeholder.
func (p partARN) next() (before, placeholder, after string) {
	at := ofPlaceholder.FindStringSubmatchIndex(p.rest)
	return p.done + p.rest[:at[0]], p.rest[at[2]:at[3]], p.rest[at[1]:]
}

// arnParts are those of an ARN: arn, partition, service, region, account, resource.
const arnParts = 6

// name puts a name or an ARN where the placeholder was. What the value says already,
// such as the revision of a task definition, does not follow.
func (p partARN) name(value argument, resource string) partARN {
	done := p.done + value.text
	switch parts := strings.SplitN(value.text, ":", arnParts); {
	case value.isARN && len(parts) < arnParts: // a token
		done = value.text
	case len(parts) == arnParts && parts[0] == "arn":
		kind := strings.SplitN(p.done, ":", arnParts)
		if !strings.HasPrefix(parts[arnParts-1], kind[len(kind)-1]) { // of another kind, which has the name in it
			done = p.done + parts[arnParts-1][strings.LastIndexAny(parts[arnParts-1], ":/")+1:]
			break
		}
		done = value.text
	}
	if matches(done, resource) {
		return partARN{done: done}
	}
	return partARN{done, p.rest}
}

// matches tells whether an ARN is the resource with a name for each placeholder.
func matches(arn, resource string) bool {
	var pattern strings.Builder
	last := 0
	for _, at := range ofPlaceholder.FindAllStringIndex(resource, -1) {
		pattern.WriteString(regexp.QuoteMeta(resource[last:at[0]]) + `[^:/]*`)
		last = at[1]
	}
	pattern.WriteString(regexp.QuoteMeta(resource[last:]))
	return regexp.MustCompile(`^` + pattern.String() + `$`).MatchString(arn)
}

// argument is a literal that names a resource.
type argument struct {
	text  string
	isARN bool // even if it is a token
}

// in returns the literals that the arguments have for the members, and whether all
// that is there is literal.
func (n Naming) in(arguments map[string]any) (found []argument, isKnown bool) {
	isKnown = true
	take := func(paths []string, read func(text string) (argument, bool)) {
		for _, path := range paths {
			texts, areLiteral := literals(arguments, strings.Split(path, "."))
			isKnown = isKnown && areLiteral
			for _, text := range texts {
				value, ok := read(text)
				isKnown = isKnown && ok
				found = append(found, value)
			}
		}
	}
	take(n.Name, func(text string) (argument, bool) { return argument{text: text}, text != "" })
	take(n.ARN, func(text string) (argument, bool) {
		isARN := strings.HasPrefix(text, "arn:") && strings.Count(text, ":") >= arnParts-1
		return argument{text, true}, isToken(text) || isARN && !isAlias(text)
	})
	take(n.S3, func(text string) (argument, bool) {
		bucket := bucketOf(text)
		return argument{text: bucket}, bucket != ""
	})
	return found, isKnown
}

// isAlias tells whether an ARN names an alias of a key. IAM looks at the key's own ARN.
func isAlias(arn string) bool {
	return strings.HasPrefix(strings.SplitN(arn, ":", arnParts)[arnParts-1], "alias/")
}

// ofS3 are the hosts of S3, behind the name of a bucket or not
// (https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html).
var ofS3 = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(.+)\.)?s3[.-](?:dualstack\.)?(?:[a-z0-9-]+\.)?amazonaws\.com(?:\.cn)?$`)
})

// bucketOf returns the bucket of a URL; empty if it is not known.
func bucketOf(text string) string {
	if rest, isURL := strings.CutPrefix(text, "s3://"); isURL {
		bucket, _, _ := strings.Cut(rest, "/")
		return bucket
	}
	rest, isURL := strings.CutPrefix(text, "https://")
	host, path, _ := strings.Cut(rest, "/")
	at := ofS3().FindStringSubmatch(host)
	switch {
	case !isURL || at == nil:
		return ""
	case at[1] != "":
		return at[1]
	}
	bucket, _, _ := strings.Cut(path, "/")
	return bucket
}

// isToken tells whether a text has a token of the CDK, which becomes a value when a
// stack is deployed.
func isToken(text string) bool { return strings.Contains(text, "${Token[") }

// literals are the texts at a path, and whether nothing there is an expression.
func literals(value any, path []string) (texts []string, areLiteral bool) {
	switch value := value.(type) {
	case nil:
		return nil, true
	case []any:
		areLiteral = true
		for _, item := range value {
			more, literal := literals(item, path)
			texts, areLiteral = append(texts, more...), areLiteral && literal
		}
		return texts, areLiteral
	case map[string]any:
		if len(path) == 0 {
			return nil, false
		}
		for name, member := range value {
			if strings.EqualFold(name, path[0]) {
				return literals(member, path[1:])
			}
			if strings.EqualFold(name, path[0]+".$") {
				return nil, false
			}
		}
		return nil, true
	case string:
		literal := !strings.HasPrefix(strings.TrimSpace(value), "{%") && (!strings.Contains(value, "${") || isToken(value))
		if len(path) > 0 || !literal || strings.ContainsAny(value, "*?") { // which IAM takes for a wildcard
			return nil, false
		}
		return []string{value}, true
	default:
		return nil, false
	}
}
