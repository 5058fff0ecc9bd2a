package source

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/shell"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// language is a language of templates: its texts are JSON or YAML only when they are
// rendered.
type language struct {
	name       string
	extensions []string
	sign       string // regular expression; empty for a language that the extension alone tells
	render     string // a command that prints what %s gives
}

// languages are the languages of templates, those first whose signs no other has.
var languages = []language{
	{"Terraform's template language", nil, terraformDirective, ""},
	{"EJS", []string{".ejs"}, "", "npx ejs %s"},
	{"ERB", []string{".erb"}, `<%[-=#]?`, "erb %s"},
	{"Helm", nil, `\{\{-?\s*(?:\.[A-Z]\w*|include|template|toYaml|range|with|end|if \.)\b`, "helm template CHART"},
	{"Handlebars", []string{".hbs", ".handlebars"}, "", "npx -p hbs-cli hbs --stdout --data values.json %s"},
	{"Mustache", []string{".mustache"}, `\{\{(?:\{|[#/^>!&])`, "mustache values.json %s"},
	{"Jinja", []string{".j2", ".jinja", ".jinja2"}, jinjaStatement + `|\{#`, "jinja2 %s values.yml"},
	{"Jinja, Mustache or Handlebars", nil, `\{\{`, "jinja2 %s values.yml"},
}

// jinjaStatement and terraformDirective begin with words of their languages: JSONata has "{%",
// too.
const (
	jinjaStatement = `\{%[-+]?\s*(?:if|elif|else|endif|for|endfor|set|endset|include|import|from|block|endblock|extends|macro|endmacro|` +
		`call|endcall|filter|endfilter|with|endwith|raw|endraw|do|autoescape|endautoescape)[\s%+-]`
	terraformDirective = `%\{~?\s*(?:if|for|else|endif|endfor)\b`
)

// templateSign is where a text begins to be rendered.
var templateSign = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{\{[^%]|` + jinjaStatement + `|\{#|<%|` + terraformDirective)
})

// signs returns where signs of templates stand in a text, at most so many of them. References
// of CloudFormation are none.
func signs(text []byte, most int) []int {
	var found []int
	for _, at := range templateSign().FindAllIndex(text, most) {
		if !bytes.HasPrefix(text[at[0]:], []byte("{{resolve:")) {
			found = append(found, at[0])
		}
	}
	return found
}

// firstOf returns where the first sign of a template stands in a text; -1 if none does.
func firstOf(text []byte) int {
	if found := signs(text, maxSigns); len(found) > 0 {
		return found[0]
	}
	return -1
}

// isRendered tells whether a file has the name of a template of a language.
func isRendered(name string) bool {
	extension := path.Ext(name)
	return isTerraformTemplate(name) || slices.ContainsFunc(languages, func(l language) bool { return slices.Contains(l.extensions, extension) })
}

// rendersByName refuses a file that says by its name that it is rendered, and is JSON or
// YAML before that: values in its strings are not those that AWS gets.
func rendersByName(c *content) *Definition {
	if !isRendered(c.file.name) || isTerraformTemplate(c.file.name) {
		return nil
	}
	at := firstOf(c.file.bytes)
	if at < 0 {
		return nil
	}
	return refuseTemplate(c.file, at, languageOf(c.file, at))
}

// mustRender says what to do with a file that is JSON or YAML only when it is rendered; nil
// for one that is wrong.
func mustRender(c *content) *Definition {
	f := c.file
	if !bytes.Contains(f.bytes, []byte("StartAt")) && !holdsTemplate(f.bytes) {
		return nil
	}
	p := c.problems[0]
	wrong := new(ruler).offset(f.bytes, p.Line, p.Column)
	if at := firstSign(f, wrong); at >= 0 {
		return refuseTemplate(f, at, languageOf(f, at))
	}
	if token := tokenForm().Find(f.bytes[wrong:]); token != nil && !isYAML(f.name, f.bytes) {
		return refuseToken(f, wrong, string(token))
	}
	if at, end := expressionBefore(f.bytes, wrong); end > 0 && !isYAML(f.name, f.bytes) {
		return refuse(f, at, fmt.Sprintf("%q stands in the place of members or items, so a program puts a text in for it, and this file is not checked: "+
			"lint it as it is rendered", shownSign(f.bytes[at:min(end, at+maxShownSign)])))
	}
	return nil
}

// expressionBefore returns where a "${...}" stands that is no value, at which or behind which
// the reader of JSON stops; 0 for the end if none does.
func expressionBefore(text []byte, wrong int) (at, end int) {
	if bytes.HasPrefix(text[wrong:], []byte("${")) {
		return wrong, endOfExpression(text, wrong+len("${"), true)
	}
	begin := max(0, wrong-maxExpression)
	for before := text[begin:wrong]; ; before = before[:at-begin] {
		found := bytes.LastIndex(before, []byte("${"))
		if found < 0 {
			return 0, 0
		}
		at = begin + found
		if end = endOfExpression(text, at+len("${"), true); end > 0 && end <= wrong && len(bytes.TrimSpace(text[end:wrong])) == 0 {
			break
		}
	}
	if left := bytes.TrimSpace(text[begin:at]); len(left) > 0 && left[len(left)-1] == ':' {
		return 0, 0 // a value, behind which something is missing
	}
	return at, end
}

// firstSign returns where the language of a template keeps a text from being JSON or YAML,
// whose reader stops at wrong; -1 if none does.
func firstSign(f *file, wrong int) int {
	switch {
	case isRendered(f.name) && !isTerraformTemplate(f.name):
		return firstOf(f.bytes)
	case !isYAML(f.name, f.bytes): // what stands before the first sign is JSON
		if at := signAround(f.bytes, wrong); at >= 0 {
			return at
		}
		from := max(0, wrong-1)
		if at := firstOf(f.bytes[from:]); at >= 0 && from+at <= wrong {
			return from + at
		}
	default: // the reader of YAML tells the line, or the one before
		from := bytes.LastIndexByte(f.bytes[:max(0, bytes.LastIndexByte(f.bytes[:wrong], '\n'))], '\n') + 1
		lines := f.bytes[from:]
		for range 3 {
			end := bytes.IndexByte(lines, '\n') + 1
			line := lines[:cmp.Or(end, len(lines))]
			if at := brokenSign(line); at >= 0 {
				return from + at
			}
			lines, from = lines[len(line):], from+len(line)
		}
	}
	return -1
}

// signAround returns where a form of a template begins that ends behind a byte of its line; -1
// if none does. Its quotes have ended a string of JSON.
func signAround(text []byte, at int) int {
	from := bytes.LastIndexByte(text[:at], '\n') + 1
	for _, sign := range signs(text[from:at], maxSigns) {
		begin := from + sign
		if end := begin + len(shownSign(text[begin:min(len(text), begin+maxExpression)])); at < end && bytes.IndexByte(text[begin:at], '"') >= 0 {
			return begin
		}
	}
	return -1
}

// brokenSign returns where a language of templates keeps a line from being YAML; -1 if none
// does. A sign within a word, a comment or a string is text, unless the string ends in it.
func brokenSign(line []byte) int {
	for _, at := range signs(line, maxSigns) {
		before := bytes.TrimRight(line[:at], " \t")
		switch quote := openQuote(before); {
		case quote != 0:
			if strings.IndexByte(shownSign(line[at:min(len(line), at+maxExpression)]), quote) >= 0 {
				return at
			}
		case len(before) == 0 || strings.IndexByte(":-?,[{}", before[len(before)-1]) >= 0:
			return at
		}
	}
	return -1
}

// openQuote returns the quote of a string that is open behind a part of a line; 0 for none.
func openQuote(line []byte) byte {
	var open byte
	for i, c := range line {
		switch {
		case c == open:
			open = 0
		case open == 0 && (c == '"' || c == '\'' && (i == 0 || strings.IndexByte(" \t:-,[{", line[i-1]) >= 0)):
			open = c
		}
	}
	return open
}

// languageOf tells the language whose first sign stands at a byte.
func languageOf(f *file, at int) language {
	extension := path.Ext(f.name)
	for _, l := range languages {
		if slices.Contains(l.extensions, extension) {
			return l
		}
	}
	for _, l := range languages {
		if l.sign != "" && regexp.MustCompile(l.sign).Match(f.bytes[at:min(len(f.bytes), at+maxDefinitionFile)]) {
			return l
		}
	}
	return languages[len(languages)-1]
}

func refuseTemplate(f *file, at int, l language) *Definition {
	shown := shownSign(f.bytes[at:min(len(f.bytes), at+maxShownSign)])
	if l.render == "" {
		return refuse(f, at, fmt.Sprintf("%q is %s, which Terraform renders, so this file is not checked: pass the folder with the .tf files, "+
			"or the output of terraform show -json PLAN", shown, l.name))
	}
	command := l.render
	if strings.Contains(command, "%s") {
		command = fmt.Sprintf(command, nameInCommand(f))
	}
	where := ""
	if file := valuesFile().FindString(command); file != "" {
		where = ", where " + file + " has the values that it puts in"
	}
	return refuse(f, at, fmt.Sprintf("%q is %s, so this file is not checked. Render it first: %s | jobpoller lint -%s", shown, l.name, command, where))
}

// valuesFile is the file of a command that renders a template which the user writes.
var valuesFile = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bvalues\.(?:yml|json)\b`) })

const (
	maxShownSign = 60
	// maxSigns bounds the signs of a line that are looked at.
	maxSigns = 50
)

// shownSign is what a template has at a sign, up to its end.
func shownSign(text []byte) string {
	line, _, _ := strings.Cut(string(text), "\n")
	end := "}}"
	switch {
	case strings.HasPrefix(line, "{{{"):
		end = "}}}"
	case strings.HasPrefix(line, "{%"), strings.HasPrefix(line, "{#"):
		end = line[1:2] + "}"
	case strings.HasPrefix(line, "<%"):
		end = "%>"
	case strings.HasPrefix(line, "%{"):
		end = "}"
	}
	if before, _, ok := strings.Cut(line, end); ok {
		line = before + end
	}
	return line
}

// tokenForm is a name that a program such as sed or envsubst replaces.
var tokenForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:\$[A-Za-z_]\w*|__[A-Za-z]\w*?__|%[A-Za-z_]\w*%|@@?[A-Za-z_]\w*@@?|<[A-Z][A-Z_]*>)`)
})

func refuseToken(f *file, at int, token string) *Definition {
	command := "sed 's/" + token + "/VALUE/' " + nameInCommand(f)
	if name, ok := strings.CutPrefix(token, "$"); ok {
		command = name + "=VALUE envsubst < " + nameInCommand(f)
	}
	return refuse(f, at, fmt.Sprintf("%s is no JSON: a program puts a value in for it, so this file is not checked. Put the value in first: %s | jobpoller lint -",
		token, command))
}

// nameInCommand is the file in a command that people copy.
func nameInCommand(f *file) string {
	if f.name == Stdin {
		return "FILE"
	}
	return shell.Quote(f.name)
}

// refuse returns the definition of a file that is not checked.
func refuse(f *file, at int, message string) *Definition {
	p := f.problem(at, "", message)
	p.Severity = diag.Warning
	return &Definition{Name: f.name, File: f.name, Form: FormFile, Problems: diag.Problems{p}}
}
