package cli

import (
	"io"
	"strings"

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
		terminal.Fprintf(out, "page at           %s%s\n", o.url(), ownPaths)
	}
	if len(o.command) == 0 {
		flags := ""
		if o.port != servePort {
			flags = terminal.Sprintf(" --port %d", o.port)
		}
		if o.services.region != "" {
			flags += " --region " + quoteWord(o.services.region)
		}
		if o.forward != "" {
			flags += " --forward " + quoteWord(o.forward)
		}
		terminal.Fprintf(out, "clients:          eval \"$(jobpoller serve --print-env%s)\"\n", terminal.Lines(flags))
	}
	if o.listen != "" {
		terminal.Fprintf(out, "listens on %s: other machines may reach it, and nothing asks them for a password\n", o.listen)
	}
	if len(o.services.aws) > 0 {
		terminal.Fprintf(out, "Tasks call AWS, which AWS charges for: %s\n", strings.Join(o.services.aws, ", "))
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
