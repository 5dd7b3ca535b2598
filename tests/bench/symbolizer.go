// SPDX-License-Identifier: Apache-2.0
// A subject of symbolizer.py: standard containers and templates, for deep inline chains.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"sort"
	"strings"
)

type T struct {
	A int
	B string
	C []float64
}

func main() {
	m := map[string]T{}
	for i := 0; i < 1000; i++ {
		m[fmt.Sprint(i)] = T{i, "x", []float64{1, 2}}
	}
	b, _ := json.Marshal(m)
	k := []string{}
	for x := range m {
		k = append(k, x)
	}
	sort.Strings(k)
	r := regexp.MustCompile("a+b")
	fmt.Println(len(b), r.MatchString(strings.Join(k, "a")))
	if len(os.Args) > 1 {
		http.ListenAndServe(":0", nil)
	}
}
