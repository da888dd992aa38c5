// The programs and the names of the texts that the course comes from, on the page about them and on
// the page in Chinese.

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
	kubeInformerFactory deploymentLister informerFactory cmGVR podGVR ForResource cmInformer
	wait.NeverStop stopCh resyncCheckPeriod defaultEventHandlerResyncPeriod WaitForCacheSync runtime.Object
	gin.New r.GET c.JSON`

// clientGosNames are the old names that client-go has today. A reader who looks for one of these
// wants to read about it, and not only about what this book has in its place.
const clientGosNames = `NewDeltaFIFOWithOptions ExplicitKey MetaNamespaceKeyFunc KnownObjects populated
	initialPopulationCount UndeltaStore ServerPreferredResources ServerGroupsAndResources ThreadSafeStore threadSafeMap
	Indices Indexers MetaNamespaceIndexFunc processDeltas clientState NewInformer NewIndexerInformer newProcessListener
	bufferSize addNotification updateNotification deleteNotification sharedProcessor sharedIndexInformer processLoop
	blockDeltas resyncCheckPeriod defaultEventHandlerResyncPeriod cacheMutationDetector HasSynced
	sharedInformerFactory InformerFor startedInformers customResync defaultResync tweakListOptions WaitForCacheSync
	ForResource runtime.Object`

// oldCalls are the old names with spaces or quotes in them.
var oldCalls = []string{"distribute(obj, sync)", `r.Run(":4000")`}

// oldPrograms are words of the programs of each text, and of their outputs. The list is here for the
// same reason.
var oldPrograms = [][]string{
	{"fmt.Println(df.List())", "df.Pop", "podLW.List", "podLW.Watch", "package watchdog", "newProcessListener",
		"MySharedInformer", "LabelsIndexFunc", "MyFacotry"},
	{"go run deltafifo/main.go", "go run reflector/listwatch.go", "go run reflector/reflector.go",
		"go run reflector/indexer.go", "go run myinformer.go"},
	{"kubeInformerFactory", "InformerFor", "WaitForCacheSync", "sharedIndexInformer", "processLoop"},
	{"NewK8sConfig", "ConfigMaps(ns).List", "dynamicCli", "ServerPreferredResources", "lwc.Watch", "mygott",
		"Add Event: {pod-1 1}", "Sync : pod-1 - Running", "[ns1/pod1] <nil>", "CmdHandler", "store.List()", "busy-box",
		"NewSharedInformer", "Configmap:", "DiscoveryClient"},
	{"Added : pod1 1", "podKeyFunc", "PodLister", "DeltaType", "resync", "rsync"},
}

// The page of the texts, and the page in Chinese.
const (
	originsPage = "docs/reference/origins.md"
	chinesePage = "docs/zh-CN.md"
)

// oldNameColumns are the headings of the table of old names.
var oldNameColumns = []string{"the old name", "the new name", "where"}

// A program is a row of a table about the programs of a text.
type program struct {
	Old, Commands, Links []string // the code spans of the first cell, the commands, and where the links lead
}

// programsOn returns the programs of each text on a page, in the order of the texts.
func programsOn(t *testing.T, root fs.FS, page string) (texts [][]program) {
	t.Helper()
	for _, paragraph := range strings.Split(readFile(t, root, page), "\n\n") {
		header, _, _ := strings.Cut(paragraph, "\n")
		cells := strings.Split(header, " | ")
		if len(cells) < 3 || cells[1] != "today" && cells[1] != "今天的命令" {
			continue
		}
		var programs []program
		for _, row := range strings.Split(strings.TrimSpace(paragraph), "\n")[2:] {
			cells := strings.Split(row, " | ")
			p := program{Old: submatches(codeSpan, cells[0]), Commands: submatches(codeSpan, cells[1])}
			for _, link := range submatches(linkTarget, cells[2]) {
				p.Links = append(p.Links, path.Join(path.Dir(page), link))
			}
			programs = append(programs, p)
		}
		texts = append(texts, programs)
	}
	if len(texts) != len(oldPrograms) {
		t.Fatalf("%s has tables of the programs of %d texts, want %d", page, len(texts), len(oldPrograms))
	}
	return texts
}

// The programs of each text are in its table. Each has a command, whose step is in the section behind
// one of the links. (TestCommandsNameOneStepThatExists checks that the step exists.)
func TestTheProgramsOfTheTexts(t *testing.T) {
	tree := root(t)
	for i, programs := range programsOn(t, tree, originsPage) {
		var all strings.Builder
		for _, p := range programs {
			all.WriteString(strings.Join(p.Old, "\n") + "\n")
			if len(p.Commands) != 1 || !isShown(t, tree, p) {
				t.Errorf("text %d, %q: want one command, and its step behind one of the links %q; it has %q",
					i+1, p.Old, p.Links, p.Commands)
			}
		}
		for _, words := range oldPrograms[i] {
			if !strings.Contains(all.String(), words) {
				t.Errorf("the programs of text %d do not have %q", i+1, words)
			}
		}
	}
}

// isShown reports whether a section behind the links of a program shows the code or the output of the
// step that its command names. A command without a step runs all steps of a chapter: then the links
// lead to a page of the chapter.
func isShown(t *testing.T, root fs.FS, p program) bool {
	t.Helper()
	words := strings.Fields(strings.TrimPrefix(p.Commands[0], "go run ./"))
	chapter := words[0]
	return slices.ContainsFunc(p.Links, func(link string) bool {
		page, anchor, _ := strings.Cut(link, "#")
		if len(words) == 1 {
			return strings.HasPrefix(page, "docs/"+chapter)
		}
		section := sectionOf(readFile(t, root, page), anchor)
		return strings.Contains(section, "<!-- code "+chapter+"/step_"+words[1]+".go ") ||
			strings.Contains(section, "<!-- output "+chapter+"/testdata/"+words[1]+".txt ")
	})
}

// The page in Chinese has the same programs, commands and links: its readers see what has moved, too.
func TestTheChinesePageHasTheSamePrograms(t *testing.T) {
	tree := root(t)
	if diff := cmp.Diff(programsOn(t, tree, originsPage), programsOn(t, tree, chinesePage)); diff != "" {
		t.Errorf("%s differs from %s (-want +got):\n%s", chinesePage, originsPage, diff)
	}
}

func TestEveryOldNameIsFound(t *testing.T) {
	old := strings.Join(columnsOf(oldNamesTable(t, root(t)))[oldNameColumns[0]], "\n")
	for _, name := range append(strings.Fields(oldNames), oldCalls...) {
		if !strings.Contains(old, "`"+name+"`") {
			t.Errorf("the table of old names in %s does not have `%s`", originsPage, name)
		}
	}
}

// A row in the table of old names leads to its answer. The new names stand behind its links, and so
// do those of its old names that client-go has today. A name stands in a Go file that declares it,
// and in a section that has it in a heading, in a block or in a table: a sentence can mention a name
// and say nothing about it. At least one link of a row leads to a page, because a reader wants to
// read about the name before he looks at the code.
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
		"docs/x.md": {Data: []byte("# X\n\n## First\n\n```sh\n# no heading\npush\n```\n\n" +
			"| Pop |\n|---|\n| HasSynced |\n\n## Second: Stack\n\n```text\npushes\n```\n\nin passing: push\n")},
		originsPage: {Data: []byte(`# Origins

## Old names

| the old name | the new name | where |
|---|---|---|
| ^a^, ^HasSynced^ (1) | ^Queue^, ^Queue.Pop^, ^push^ | [x.go](../../01-x/x.go), [first](../x.md#first) |
| ^b^ | ^Push^, ^Pop^ | [x.go](../../01-x/x.go), [first](../x.md#first) |
| ^c^ | ^push^ | [second](../x.md#second-stack) |
| ^d^, ^HasSynced^ | ^Stack^ | [second](../x.md#second-stack) |
| ^e^ | nothing | [x.go](../../01-x/x.go) |
| ^f^ | ^Queue^ | [x.go](../../01-x/x.go) |

## Claims
`)},
	}
	page := tree[originsPage]
	page.Data = []byte(strings.ReplaceAll(string(page.Data), "^", "`"))
	want := []string{
		"`b`: ../../01-x/x.go has none of the names",
		"`b`: Push stands behind none of the links",
		"`c`: ../x.md#second-stack has none of the names",
		"`c`: push stands behind none of the links",
		"`d`, `HasSynced`: HasSynced stands behind none of the links",
		"`e`: the row has 0 new names and 1 links, want at least one of each",
		"`e`: ../../01-x/x.go has none of the names",
		"`e`: no link leads to a page",
		"`f`: no link leads to a page",
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

// checkOldNames returns what is wrong with the rows of the table of old names, a line each.
func checkOldNames(t *testing.T, root fs.FS) (problems []string) {
	t.Helper()
	columns := columnsOf(oldNamesTable(t, root))
	for i, old := range columns[oldNameColumns[0]] {
		report := func(format string, args ...any) {
			problems = append(problems, old+": "+fmt.Sprintf(format, args...))
		}
		names := submatches(codeSpan, columns[oldNameColumns[1]][i])
		links := submatches(linkTarget, columns[oldNameColumns[2]][i])
		if len(names) == 0 || len(links) == 0 {
			report("the row has %d new names and %d links, want at least one of each", len(names), len(links))
		}
		for _, name := range submatches(codeSpan, old) {
			if slices.Contains(strings.Fields(clientGosNames), name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		for _, link := range links {
			if !slices.ContainsFunc(names, func(name string) bool { return stands(t, root, link, name) }) {
				report("%s has none of the names", link)
			}
		}
		for _, name := range names {
			if !slices.ContainsFunc(links, func(link string) bool { return stands(t, root, link, name) }) {
				report("%s stands behind none of the links", name)
			}
		}
		if !slices.ContainsFunc(links, func(link string) bool { return strings.Contains(link, ".md") }) {
			report("no link leads to a page")
		}
	}
	return problems
}

// submatches returns the first submatch of each match.
func submatches(pattern *regexp.Regexp, text string) (found []string) {
	for _, match := range pattern.FindAllStringSubmatch(text, -1) {
		found = append(found, match[1])
	}
	return found
}

// stands reports whether a name stands behind a link of the page: a Go file declares it, or the section
// of a page has it as a word in a heading, in a block or in a table.
func stands(t *testing.T, root fs.FS, target, name string) bool {
	t.Helper()
	file, anchor, _ := strings.Cut(target, "#")
	file = path.Join(path.Dir(originsPage), file)
	if path.Ext(file) == ".go" {
		return slices.ContainsFunc(parse(t, root, file).Decls, func(d ast.Decl) bool {
			return slices.Contains(book.Names(d), name)
		})
	}
	text := readFile(t, root, file)
	if path.Ext(file) == ".md" {
		text = withoutSentences(sectionOf(text, anchor))
	}
	word := regexp.MustCompile(`(^|\W)` + regexp.QuoteMeta(name) + `(\W|$)`)
	return word.MatchString(text)
}

// withoutSentences returns the headings, blocks and tables of a text.
func withoutSentences(text string) string {
	var rest strings.Builder
	inBlock := false
	for line := range strings.Lines(text) {
		isFence := fence.MatchString(line)
		if isFence {
			inBlock = !inBlock
		}
		isCode := strings.HasPrefix(line, "<!-- code ") // it names the declarations in the block below
		if inBlock || isFence || isCode || heading.MatchString(line) || strings.HasPrefix(line, "|") {
			rest.WriteString(line)
		}
	}
	return rest.String()
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
