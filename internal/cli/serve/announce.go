package serve

import (
	"io"
	"net"
	"strings"

	"github.com/jobpoller/jobpoller/internal/loopback"
	"github.com/jobpoller/jobpoller/internal/shell"
	"github.com/jobpoller/jobpoller/internal/terminal"
)

// announce says where the server is, how clients find it, and what is not harmless. A
// command knows where it is, and has the output for itself.
func (o *serveOptions) announce(out, errs io.Writer) {
	if len(o.command) > 0 {
		out = errs
	}
	if len(o.command) == 0 || o.verbose {
		terminal.Fprintf(out, "Step Functions at %s\n", o.url())
		terminal.Fprintf(out, "page at           %s\n", o.pageFor(out))
	}
	if len(o.command) == 0 {
		flags := ""
		if o.port != servePort {
			flags = terminal.Sprintf(" --port %d", o.port)
		}
		if ip := net.ParseIP(o.host()); o.listen != "" && (ip == nil || !ip.IsUnspecified()) {
			flags += " --listen " + shell.Quote(o.listen)
		}
		if o.services.Region != "" {
			flags += " --region " + shell.Quote(o.services.Region)
		}
		if o.forward != "" {
			flags += " --forward " + shell.Quote(o.forward)
		}
		terminal.Fprintf(out, "clients:          eval \"$(jobpoller serve --print-env%s)\"\n", terminal.Lines(flags))
	}
	if o.access != nil && (len(o.command) == 0 || o.verbose) {
		terminal.Fprintf(out, "only whoever has its keys can use it, because of %s\n", strings.Join(o.ownerFlags(), ", "))
	}
	if o.listen != "" && !loopback.IsLoopback(o.host()) {
		terminal.Fprintf(out, "listens on %s: other machines reach it, and the network between can read what it sends\n", o.listen)
	}
	if len(o.services.AWS) > 0 {
		terminal.Fprintf(out, "Tasks call AWS, which AWS charges for: %s\n", strings.Join(o.services.AWS, ", "))
	}
	if len(o.command) > 0 && !o.verbose {
		return
	}
	if o.lambdaEndpoint != "" {
		terminal.Fprintf(out, "Lambda functions are invoked at %s\n", o.lambdaEndpoint)
	}
	if o.forward != "" {
		terminal.Fprintf(out, "requests for other services, and Tasks that no other flag names, go to %s\n", o.forward)
	}
}

// pageFor is where the page is. Its token is shown on a terminal alone: others may read a
// log.
func (o *serveOptions) pageFor(out io.Writer) string {
	switch {
	case o.access == nil:
		return o.url() + ownPaths
	case terminal.DisplayOf(out) != nil:
		return o.access.Page
	case o.accessFile != "":
		return o.url() + ownPaths + " with the token that is in " + o.accessFile
	}
	return o.url() + ownPaths + " with a token that only a terminal shows"
}
