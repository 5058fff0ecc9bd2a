package bench_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// memoryBudget is what a function may take of the 128 MiB that it is deployed
// with (cdkapp): half, for what the Lambda runtime takes and for large outputs.
const memoryBudget = 64 << 20

// peakMemory returns the most resident memory, in bytes, that the processes of a
// binary have had so far, where /proc says so, else 0.
func peakMemory(binary string) (uint64, error) {
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		return 0, err
	}
	var most uint64
	for _, link := range links {
		if target, err := os.Readlink(link); err != nil || target != binary {
			continue // another's, or gone
		}
		status, err := os.ReadFile(filepath.Join(filepath.Dir(link), "status"))
		if err != nil {
			return 0, err
		}
		_, rest, found := strings.Cut(string(status), "VmHWM:")
		var kilobytes uint64
		if _, err := fmt.Sscan(rest, &kilobytes); err != nil || !found {
			return 0, fmt.Errorf("%s: no peak of memory in its status: %w", binary, err)
		}
		most = max(most, kilobytes<<10)
	}
	return most, nil
}
