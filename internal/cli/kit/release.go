package kit

import "runtime/debug"

// released is the version of a release, which the linker sets: see make release.
var released string

// Version is that of the release or of the module, where the build knows it.
func Version() string {
	if released != "" {
		return released
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(unknown)"
}
