package sources_test

import (
	"fmt"

	"github.com/jobpoller/jobpoller/pollcore/catalog/sources"
)

func ExampleLeftOut() {
	fmt.Println(sources.LeftOut()["pinpoint:CreateImportJob"])
	// Output:
	// Pinpoint ended on 2026-10-30
}
