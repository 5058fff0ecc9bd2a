package edit

import (
	"bytes"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/source/terraform"
)

// encodeTemplate writes a text as the heredoc, the string or the file has it that Terraform
// reads.
func (d *document) encodeTemplate(c change) (string, error) {
	spelling := d.Spelling(c.from)
	switch spelling {
	case terraform.Plain, terraform.Template:
		text := c.text
		if !d.writing.Tree {
			text = strings.ReplaceAll(text, "\n", "\n"+d.indentation(c.from))
		}
		return d.escapeTemplate(text, spelling, func(text string) string { return text }), nil
	case terraform.Quoted:
		return d.escapeTemplate(c.text, spelling, escapeHCL), nil
	case terraform.InJSON:
		quoted := string(jsontree.Quote(d.escapeTemplate(c.text, spelling, func(text string) string { return text })))
		return quoted[1 : len(quoted)-1], nil
	case terraform.Computed:
	}
	return "", d.refuse(c.at, nil, "Terraform computes the text there")
}

// checkPlaceholders makes sure that what a new text has of unknown values can be written:
// the file has an expression for each.
func (d *document) checkPlaceholders(at string, n *node, text []byte) error {
	if !d.writing.Template && !d.writing.HCL {
		return nil
	}
	sites := d.Sites()
	for _, form := range placeholders().FindAll(text, -1) {
		inString, known := sites[string(form)]
		alone, bare := sites[`"`+string(form)+`"`]
		if known && bare || known && inString == "" || bare && alone == "" {
			return d.refuse(at, n, "the file has no expression for %s that can be used there", form)
		}
	}
	return nil
}

// indentation are the blanks that each line of the file has before the text's own.
func (d *document) indentation(at int) string {
	start, _ := d.Span(at, at)
	line := d.file[bytes.LastIndexByte(d.file[:start], '\n')+1:]
	outer := string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
	own := d.indent(at)
	if !strings.HasSuffix(outer, own) {
		return ""
	}
	return strings.TrimSuffix(outer, own)
}

// escapeTemplate escapes what would begin an interpolation or a directive. A placeholder of
// the text becomes what the file says for it.
func (d *document) escapeTemplate(text string, spelling terraform.Spelling, escape func(string) string) string {
	sites := d.Sites()
	var out strings.Builder
	at := 0
	plain := func(to int) {
		part := text[at:to]
		if spelling != terraform.Plain {
			part = strings.ReplaceAll(strings.ReplaceAll(part, "${", "$${"), "%{", "%%{")
		}
		out.WriteString(escape(part))
	}
	for _, form := range placeholders().FindAllStringIndex(text, -1) {
		site, ok := sites[text[form[0]:form[1]]]
		if from, to := form[0]-1, form[1]+1; !ok && from >= at && to <= len(text) { // it may stand outside of strings
			if site, ok = sites[text[from:to]]; ok {
				form = []int{from, to}
			}
		}
		if ok {
			if plain(form[0]); !strings.HasPrefix(site, "${") && d.writing.HCL { // an expression alone
				site = "${" + site + "}"
			}
			out.WriteString(site)
			at = form[1]
		}
	}
	plain(len(text))
	return out.String()
}

// escapeHCL writes the characters of a string in quotes.
func escapeHCL(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(text)
}
