// The old names on the page about the texts that the course comes from.

package main

import (
	"fmt"
	"go/ast"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"example.com/informer/docs/book"
	"example.com/informer/scripts/harness/markdown"
)

// oldNames are the names that the programs of the five texts declare, or pass as arguments, and the
// texts' own spellings of client-go's names. The list is here because the texts are not in the
// workspace: without it, nothing would notice a row that somebody has removed from the page.
const oldNames = `pod Pod newPod NewPod podKeyFunc PodKeyFunc df df.Pop df.List() PodLister podLister
	deltaFIFO NewDeltaFIFO DeltaFifo KnowObjects UnderltaStore rsync helper.Resource helper.Namespace DeltaFIFO.Delete
	K8sConfig NewK8sConfig K8sRestConfig kubeConfigFilePath InitClient lib.InitClient InitK8SClient cliset
	InitDynamicClient dynamicCli deployGVR deployTpl myngx InitDiscoveryClient ServerPreferredResources
	ServerGroupsAndResources podLW podLw lwc listWatcher listWarcher watcher rf rf.Run(ch) rsCH nettool mygott store
	ThreadSafeStore threadSafeMap Indices Index LabelsIndexFunc myindex myIdx idxs myIndexer
	WatchDog NewWatchDog wd.Run PodHandler CmdHandler CmdHandler2 processDeltas clientState
	lis newProcessListener bufferSize lis.addCh lis.pop lis.run addNotification updateNotification deleteNotification
	sharedProcessor MySharedInformer NewMySharedInformer msi addEventHandler start HasSynced
	sharedIndexInformer shareIndexInformer HandleDeltas processLoop blockDeltas cacheMutationDetector
	shareInformer NewShareInformer NewIndexInformer NewIndexInfomer NewShareIndexInformer mysqltest busy-box
	MyFacotry NewMyFactory PodInformer fact.Start sharedInformerFactory InformerFor startedInformers customResync
	kubeInformerFactory deploymentLister informerFactory cmGVR podGVR ForResource cmInformer`

// oldCalls are the old names with spaces or quotes in them.
var oldCalls = []string{"distribute(obj, sync)", `r.Run(":4000")`}

// originsPage is the page of the texts.
const originsPage = "docs/reference/origins.md"

// oldNameColumns are the headings of the table of old names.
var oldNameColumns = []string{"the old name", "the new name", "where"}

func TestEveryOldNameIsFound(t *testing.T) {
	old := strings.Join(columnsOf(oldNamesTable(t, root(t)))[oldNameColumns[0]], "\n")
	for _, name := range append(strings.Fields(oldNames), oldCalls...) {
		if !strings.Contains(old, "`"+name+"`") {
			t.Errorf("the table of old names in %s does not have `%s`", originsPage, name)
		}
	}
}

// A link in the table of old names leads to a new name: a Go file declares it, and the section of a
// page has it.
func TestOldNamesLeadToTheNewOnes(t *testing.T) {
	for _, problem := range checkOldNames(t, root(t)) {
		t.Error(problem)
	}
}

func TestCheckOldNames(t *testing.T) {
	tree := fstest.MapFS{
		"01-x/x.go": {
			Data: []byte("package x\n\ntype Queue struct{}\n\nfunc (q *Queue) Pop() {}\n\n// Push is gone.\n"),
		},
		"docs/x.md": {Data: []byte("# X\n\n## First\n\n```sh\n# no heading\n```\n\npush\n\n## Second\n\npushes\n")},
		originsPage: {Data: []byte(`# Origins

## Old names

| the old name | the new name | where |
|---|---|---|
| ^a^ | ^Queue^, ^Queue.Pop^, ^push^ | [x.go](../../01-x/x.go), [first](../x.md#first) |
| ^b^ | ^Push^ | [x.go](../../01-x/x.go) |
| ^c^ | ^push^ | [second](../x.md#second) |
| ^d^ | ^Queue^, ^Stack^ | [x.go](../../01-x/x.go) |
| ^e^ | nothing | [x.go](../../01-x/x.go) |

## Claims
`)},
	}
	page := tree[originsPage]
	page.Data = []byte(strings.ReplaceAll(string(page.Data), "^", "`"))
	want := []string{
		"`b`: ../../01-x/x.go has none of the new names",
		"`b`: the new name Push is behind none of the links",
		"`c`: ../x.md#second has none of the new names",
		"`c`: the new name push is behind none of the links",
		"`d`: the new name Stack is behind none of the links",
		"`e`: the row has 0 new names and 1 links, want at least one of each",
	}
	if diff := cmp.Diff(want, checkOldNames(t, tree)); diff != "" {
		t.Errorf("checkOldNames() differs (-want +got):\n%s", diff)
	}
}

// oldNamesTable returns the first table below the heading "Old names".
func oldNamesTable(t *testing.T, root fs.FS) string {
	t.Helper()
	_, section, _ := strings.Cut(readFile(t, root, originsPage), "\n## Old names")
	_, table, found := strings.Cut(section, "\n\n|")
	if !found {
		t.Fatalf("%s has no table below a heading Old names", originsPage)
	}
	table, _, _ = strings.Cut("|"+table, "\n\n")
	return table
}

var linkTarget = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// checkOldNames returns a line for each link of the table of old names that leads to none of the new
// names of its row, and for each new name that is behind none of the links.
func checkOldNames(t *testing.T, root fs.FS) (problems []string) {
	t.Helper()
	columns := columnsOf(oldNamesTable(t, root))
	for i, old := range columns[oldNameColumns[0]] {
		names := codeSpan.FindAllStringSubmatch(columns[oldNameColumns[1]][i], -1)
		links := linkTarget.FindAllStringSubmatch(columns[oldNameColumns[2]][i], -1)
		if len(names) == 0 || len(links) == 0 {
			problems = append(problems, fmt.Sprintf(
				"%s: the row has %d new names and %d links, want at least one of each",
				old, len(names), len(links)))
		}
		for _, link := range links {
			isOfLink := func(name []string) bool { return hasName(t, root, link[1], name[1]) }
			if len(names) > 0 && !slices.ContainsFunc(names, isOfLink) {
				problems = append(problems, fmt.Sprintf("%s: %s has none of the new names", old, link[1]))
			}
		}
		for _, name := range names {
			hasIt := func(link []string) bool { return hasName(t, root, link[1], name[1]) }
			if len(links) > 0 && !slices.ContainsFunc(links, hasIt) {
				problems = append(problems,
					fmt.Sprintf("%s: the new name %s is behind none of the links", old, name[1]))
			}
		}
	}
	return problems
}

// hasName says whether a name is behind a link of the page: a Go file declares the name, or the
// section of a page has it as a word.
func hasName(t *testing.T, root fs.FS, target, name string) bool {
	t.Helper()
	file, anchor, _ := strings.Cut(target, "#")
	file = path.Join(path.Dir(originsPage), file)
	if path.Ext(file) == ".go" {
		return slices.ContainsFunc(parse(t, root, file).Decls, func(d ast.Decl) bool {
			return slices.Contains(book.Names(d), name)
		})
	}
	word := regexp.MustCompile(`(^|\W)` + regexp.QuoteMeta(name) + `(\W|$)`)
	return word.MatchString(sectionOf(readFile(t, root, file), anchor))
}

var (
	fence   = regexp.MustCompile("^```")
	heading = regexp.MustCompile(`^(#+) (.*)`)
)

// sectionOf returns the section of a page with this anchor, with the sections inside it. Without an
// anchor it returns the page.
func sectionOf(page, anchor string) string {
	if anchor == "" {
		return page
	}
	var section strings.Builder
	anchors, level, inBlock := markdown.Anchors{}, 0, false
	for line := range strings.Lines(page) {
		if fence.MatchString(line) {
			inBlock = !inBlock
		}
		if match := heading.FindStringSubmatch(line); match != nil && !inBlock {
			switch isTarget := anchors.Add(strings.ReplaceAll(match[2], "`", "")) == anchor; {
			case isTarget:
				level = len(match[1])
			case len(match[1]) <= level:
				return section.String()
			}
		}
		if level > 0 {
			section.WriteString(line)
		}
	}
	return section.String()
}
