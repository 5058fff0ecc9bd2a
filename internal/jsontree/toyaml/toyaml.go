// Package toyaml writes JSON as YAML.
package toyaml

import (
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// Merge is a name that means something else in YAML unless it is in quotes.
const Merge = "<<"

// Node is a value of JSON as YAML, with members in the same order.
func Node(n *jsontree.Node) *yaml.Node {
	node := &yaml.Node{}
	switch n.Kind {
	case jsontree.Object:
		node.Kind = yaml.MappingNode
		for _, m := range n.Members {
			node.Content = append(node.Content, Name(m.Name), Node(m.Value))
		}
	case jsontree.Array:
		node.Kind = yaml.SequenceNode
		for _, item := range n.Items {
			node.Content = append(node.Content, Node(item))
		}
	case jsontree.String:
		node = text(n.Text)
	default: // which YAML writes in the same way
		node.Kind, node.Value = yaml.ScalarNode, string(n.Raw())
	}
	if len(node.Content) == 0 && node.Kind != yaml.ScalarNode {
		node.Style = yaml.FlowStyle
	}
	return node
}

// Name is the name of a member.
func Name(name string) *yaml.Node {
	node := text(name)
	if name == Merge {
		node.Style = yaml.DoubleQuotedStyle
	}
	return node
}

// text is a text. A block of lines that begins with a blank or a line break needs a number that
// says how far it is indented, and the library counts it wrong in a list: such a text is quoted.
func text(value string) *yaml.Node {
	node := &yaml.Node{}
	node.SetString(value)
	if node.Style == yaml.LiteralStyle && strings.TrimLeftFunc(value, unicode.IsSpace) != value {
		node.Style = yaml.DoubleQuotedStyle
	}
	return node
}
