// The pages of the small workspace, and all pages of the real one.

package main

import (
	"encoding/json"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"example.com/informer/docs/book"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/workspace"
)

func TestAPage(t *testing.T) {
	v := visit(t, smallWorkspace(t, true))
	wantIn(t, "the page", v.get("/docs/01-queue.md", 200),
		`<h1 id="the-queue">The queue`,
		`<a href="/docs/01-queue.md" aria-current="page">`,
		`<a href="reference/words.md#queue" class="">queue</a>`,
		`<a href="../01-queue/queue.go?show=Pop" class="source">Pop</a>`,
		`<a href="../01-queue/queue_test.go?show=TestPop" class="source claim" title="TestPop">✓</a>`,
		`<a href="../01-queue/queue_test.go?show=TestPop" class="source claim" title="TestPop/a">✓</a>`,
		`&lt;b onclick=&#34;x()&#34;&gt;bold&lt;/b&gt;`,
		`<a href="" class="">this</a>`,
		`<a class="source" href="/01-queue/queue.go?show=Pop">01-queue/queue.go</a>`,
		`<span class="k">func</span>`,
		`<span class="line command"><span class="word">$</span> <span class="word">go</span> `+
			`<span class="word">run</span> <span class="word">./01-queue</span> <span class="word">pop</span></span>`,
		`&lt;1&gt;`,
		`<span class="line action">&gt; more`,
		`rel="prev" href="/docs/README.md"`,
	)
	front := v.get("/docs/README.md", 200)
	wantIn(t, "the front page", front, `rel="next" href="/docs/01-queue.md"`, `<h2>Reference</h2>`)
	if got := v.get("/docs/reference/words.md", 200); strings.Contains(got, `rel="next"`) {
		t.Error("a page of the reference has a next page, want none")
	}
	wantIn(t, "a listing", v.get("/01-queue/queue.go?show=Push", 200), `data-first="5"`,
		`<span class="line marked"><span class="k">func</span>`, `href="vscode://file/`, `queue.go:5"`)
	wantIn(t, "a line of a listing", v.get("/01-queue/queue.go?line=3", 200), `data-first="3"`, `queue.go:3"`,
		`<span class="line marked"><span class="k">func</span> <span class="f">Pop`)
	_, header, _ := v.send("GET", "/docs/reference/words.md?line=4", nil)
	if got, want := header.Get("Location"), "/docs/reference/words.md#queue"; got != want {
		t.Errorf("the line of a page leads to %q, want its section, %q", got, want)
	}
	wantIn(t, "a folder", v.get("/01-queue", 200), `href="/01-queue/testdata/pop.txt"`)
	wantIn(t, "a page that is missing", v.get("/docs/no-such.md", 404),
		"neither a page of the book", "<h2>Reference</h2>")
}

// A screen reader has to know in which language it reads.
func TestAPageInAnotherLanguage(t *testing.T) {
	folder := smallWorkspace(t, true)
	writeFile(t, folder, "docs/zh-CN.md", "# 词汇\n")
	v := visit(t, folder)
	wantIn(t, "the page", v.get("/docs/zh-CN.md", 200), `<article lang="zh-CN"><h1 id="词汇">`)
	wantIn(t, "a page in English", v.get("/docs/01-queue.md", 200), `<article><h1 `)
}

// A page that does not exist names those that may be meant.
func TestAPageThatIsMissing(t *testing.T) {
	v := visit(t, smallWorkspace(t, true))
	for target, want := range map[string]string{
		"/docs/01-quue.md":        `<a href="/docs/01-queue.md#the-queue">The queue</a>`,
		"/docs/01-queue":          `<a href="/docs/01-queue.md#the-queue">The queue</a>`,
		"/nowhere/the-queue.html": `<a href="/docs/01-queue.md#the-queue">The queue</a>`,
		"/word":                   `<a href="/docs/reference/words.md#words">Words</a>`,
	} {
		wantIn(t, target, v.get(target, 404), "There is no such page", "Did you mean:", want, "<h2>Reference</h2>")
	}
	if got := v.get("/docs/unicorn.md", 404); strings.Contains(got, "Did you mean") {
		t.Errorf("nothing is near, and the page says\n%s", got)
	}
	for _, target := range []string{"/-/nowhere", "/-/file/reader.js"} {
		wantIn(t, target, v.get(target, 404), `{"error":"there is no page`)
	}
	v.post("/nowhere", 404)
}

// A line of a shell is wrapped between words, and one of code goes on where it is indented.
func TestWhereLinesAreWrapped(t *testing.T) {
	folder := smallWorkspace(t, true)
	writeFile(t, folder, "docs/01-queue.md", "# Queue\n\n```sh\nls -l '<a>' # all-in\n```\n\n"+
		"```go\nif x {\n\t\ty()\n}\n```\n")
	page := strings.ReplaceAll(visit(t, folder).get("/docs/01-queue.md", 200), "&#39;", "'")
	colours := regexp.MustCompile(`<span class="\w">(.*?)</span>`)
	wantIn(t, "the page without colours", colours.ReplaceAllString(page, "$1"),
		`<span class="line"><span class="word">ls</span> <span class="word">-l</span> `+
			`<span class="word">'&lt;a&gt;'</span> <span class="word"># all-in</span></span>`,
		`<span class="line">if x {</span>`, `<span class="line in2">		y()</span>`)
}

// The tips are where a step can be run, until they were closed.
func TestTips(t *testing.T) {
	v := visit(t, stepsWorkspace(t))
	const tips = `<p id="tips">`
	wantIn(t, "a page with a step", v.get("/docs/01-queue.md", 200), tips)
	if got := v.get("/docs/reference/words.md", 200); strings.Contains(got, tips) {
		t.Errorf("a page without steps has tips:\n%s", got)
	}
	v.post("/-/keep?tips=closed", 200)
	if got := v.get("/docs/01-queue.md", 200); strings.Contains(got, tips) {
		t.Errorf("the tips were closed, and the page has them:\n%s", got)
	}
}

// Nobody has to be told to start what shows the page.
func TestTheBlockThatStartsTheReader(t *testing.T) {
	folder := smallWorkspace(t, true)
	v := visit(t, folder)
	for commands, want := range map[string]int{
		"scripts/read.sh # the book\n": 0, "scripts/read.sh\nls\n": 1, "ls\n": 1,
	} {
		writeFile(t, folder, "docs/01-queue.md", "# Queue\n\n```sh\n"+commands+"```\n")
		if got := strings.Count(v.get("/docs/01-queue.md", 200), "<pre"); got != want {
			t.Errorf("the page has %d blocks for %q, want %d", got, commands, want)
		}
	}
}

// Copy is on blocks of commands and of code, and not on what is output alone.
func TestWhereCopyIs(t *testing.T) {
	folder := smallWorkspace(t, true)
	v := visit(t, folder)
	const button = `<button data-copy aria-live="polite">Copy</button>`
	const output = "<!-- output 01-queue/testdata/out.txt -->\n```text\n> more\n1\n```\n"
	for page, want := range map[string]int{
		small["docs/01-queue.md"]:                   3, // code, a command, a diagram without a picture
		"# Queue\n\n```sh\nls # all\n```\n":         1,
		"# Queue\n\n```log\nE0101 it failed\n```\n": 0,
		"# Queue\n\n" + output:                      0,
	} {
		writeFile(t, folder, "01-queue/testdata/out.txt", "> more\n1\n")
		writeFile(t, folder, "docs/01-queue.md", page)
		if got := strings.Count(v.get("/docs/01-queue.md", 200), button); got != want {
			t.Errorf("Copy is %d times on the page, want %d:\n%s", got, want, page)
		}
	}
	wantIn(t, "a listing", v.get("/01-queue/queue.go", 200), button)
}

// A block whose source has changed shows the source, and how it differs from the page.
func TestABlockThatTheReaderHasChanged(t *testing.T) {
	folder := smallWorkspace(t, true)
	v := visit(t, folder)
	if got := v.get("/docs/01-queue.md", 200); strings.Contains(got, "changed by you") {
		t.Errorf("nothing has changed, and the page says so:\n%s", got)
	}
	before := v.reader.version("docs/01-queue.md")
	writeFile(t, folder, "01-queue/queue.go", "package queue\n\nfunc Pop() int { return 2<3 }\n")
	wantIn(t, "the page", v.get("/docs/01-queue.md", 200), "changed by you",
		`<span class="line yours"><span class="k">func</span>`,
		`<span class="line gd">- func Pop() int { return 1 }`,
		`<span class="line gi">+ func Pop() int { return 2&lt;3 }`)
	if v.reader.version("docs/01-queue.md") == before {
		t.Error("the version of the page is the same after a file that it shows has changed")
	}
	must.NoError(t, os.Remove(filepath.Join(folder, "01-queue", "queue.go")))
	wantIn(t, "the page", v.get("/docs/01-queue.md", 200), "The page shows an older text", "queue.go")
	writeFile(t, folder, "docs/01-queue.md", "# Another\n")
	wantIn(t, "the page", v.get("/docs/01-queue.md", 200), "<title>Another</title>")
}

// A listing marks the lines that differ from the last commit.
func TestAListingThatTheReaderHasChanged(t *testing.T) {
	folder := smallWorkspace(t, true)
	runGit(t, folder, "-c", "user.name=author", "-c", "user.email=author@example.com", "commit", "-q", "-m", "all")
	v := visit(t, folder)
	if got := v.get("/01-queue/queue.go", 200); strings.Contains(got, "yours") {
		t.Errorf("nothing has changed, and the listing marks a line:\n%s", got)
	}
	writeFile(t, folder, "01-queue/queue.go", small["01-queue/queue.go"]+"\nvar more int\n")
	got := v.get("/01-queue/queue.go?show=Push", 200)
	wantIn(t, "the listing", got, `<span class="yours">changed by you</span>`,
		`<span class="line marked"><span class="k">func</span>`, `<span class="line yours"><span class="k">var</span>`)
	if n := strings.Count(got, `"line yours"`); n != 2 {
		t.Errorf("%d lines are marked as changed, want 2: an empty one, and the variable", n)
	}
}

// A browser that has an older version of a file is told so when it connects.
func TestAChangeBeforeThePageIsWatched(t *testing.T) {
	folder := smallWorkspace(t, true)
	v := visit(t, folder)
	const names = "docs/01-queue.md,01-queue/queue_test.go"
	old := v.reader.versions(strings.Split(names, ","))
	for i, version := range strings.Split(old, ",") {
		name := strings.Split(names, ",")[i]
		wantIn(t, name, v.get("/"+name, 200), ` data-version="`+version+`"`)
	}
	for _, changed := range []string{"docs/01-queue.md", "01-queue/queue.go", "01-queue/queue_test.go"} {
		writeFile(t, folder, changed, small[changed]+"\n// more\n")
		v.listenTo(t, "files="+names+"&versions="+old).until("changed")
		writeFile(t, folder, changed, small[changed])
		old = v.reader.versions(strings.Split(names, ","))
	}
	page := v.listenTo(t, "files="+names+"&versions="+old)
	writeFile(t, folder, "01-queue/queue.go", "package queue\n")
	page.until("changed")
	if got, want := strings.Join(page.events, " "), "watching changed"; got != want {
		t.Errorf("the page got the events %s, want %s: nothing had changed before it was watched", got, want)
	}
}

func TestFind(t *testing.T) {
	v := visit(t, smallWorkspace(t, true))
	for words, want := range map[string]string{"que": "docs/01-queue.md", "kangaroo": "", "": ""} {
		var found foundSections
		must.NoError(t, json.Unmarshal([]byte(v.get("/-/find?words="+words, 200)), &found))
		isPage := len(found.Sections) > 0 && strings.HasPrefix(found.Sections[0].Page, "docs/")
		if want == "" && len(found.Sections) > 0 || want != "" && !isPage {
			t.Errorf("find %q: got %v, want %q", words, found, want)
		}
	}
	wantIn(t, "a section", v.get("/-/find?words=lin", 200), // which becomes line
		`{"Page":"docs/reference/words.md","Line":3,"Title":"Words › Queue","Anchor":"queue",`+
			`"Excerpt":[{"Text":"A ","IsMatch":false},{"Text":"line","IsMatch":true},{"Text":".","IsMatch":false}]}`)
	wantIn(t, "a misspelled word", v.get("/-/find?words=qeue", 200), `{"Sections":[],"Corrected":"queue"}`)
	wantIn(t, "a misspelled word, and another", v.get("/-/find?words=the%20qeue", 200), `"Corrected":"the queue"}`)
	v.get("/-/find?words="+strings.Repeat("x", 501), 400)
	v.get("/-/find?more=x", 400)
}

var (
	hrefs  = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	idsOf  = regexp.MustCompile(` id="([^"]*)"`)
	broken = regexp.MustCompile(`ZgotmplZ|&lt;(details|summary|br)\b|changed by you`)
)

// Every page of the book is rendered. Every link of a page leads to something, and every anchor
// exists.
func TestAllPages(t *testing.T) {
	root, err := workspace.Root(".")
	must.NoError(t, err)
	v := visit(t, root)
	names, err := book.PageNames(os.DirFS(root))
	must.NoError(t, err)
	bodies := map[string]string{} // by path
	page := func(target string) string {
		if _, ok := bodies[target]; !ok {
			bodies[target] = v.get(target, 200)
		}
		return bodies[target]
	}
	checked := map[string]bool{} // links: most are on many pages
	for _, name := range names {
		body := page("/" + name)
		if found := broken.FindString(body); found != "" {
			t.Errorf("%s has %q in it", name, found)
		}
		seen := map[string]bool{}
		for _, match := range idsOf.FindAllStringSubmatch(body, -1) {
			if seen[match[1]] {
				t.Errorf("%s has the id %q twice", name, match[1])
			}
			seen[match[1]] = true
		}
		base := &url.URL{Path: "/" + name}
		for _, match := range hrefs.FindAllStringSubmatch(body, -1) {
			link, err := base.Parse(match[1])
			must.NoError(t, err)
			if checked[link.String()] {
				continue
			}
			checked[link.String()] = true
			file := strings.TrimPrefix(link.Path, "/")
			switch {
			case link.Scheme != "":
			case path.Ext(file) == ".go": // there are hundreds: they are not rendered
				source, err := v.reader.read(file)
				show := link.Query().Get("show")
				if err != nil || show != "" && book.DeclarationLines(file, source, strings.Split(show, ",")) == nil {
					t.Errorf("%s: the link %s shows nothing: %v", name, match[1], err)
				}
			case link.Fragment != "" && !strings.Contains(page(link.Path), ` id="`+link.Fragment+`"`):
				t.Errorf("%s: the link %s leads to no anchor", name, match[1])
			default:
				page(link.Path)
			}
		}
	}
}

// widest is the width of a diagram whose words can still be read when it fits a phone, which has room for 355 pixels.
const widest = 490

// Every diagram has its picture, which fits a phone, and there is no other.
func TestDiagrams(t *testing.T) {
	root, err := workspace.Root(".")
	must.NoError(t, err)
	b, err := book.Load(os.DirFS(root))
	must.NoError(t, err)
	needed, surplus := b.DiagramFiles()
	for file, source := range needed {
		picture, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Errorf("%v: `scripts/pictures.sh diagrams` draws it:\n%s", err, source)
			continue
		}
		match := svgWidth.FindSubmatch(picture)
		if match == nil {
			t.Fatalf("%s has no width", file)
		}
		if width, _ := strconv.Atoi(string(match[1])); width > widest {
			t.Errorf("%s is %d pixels wide, want at most %d: draw it from top to bottom, or with shorter words:\n%s",
				file, width, widest, source)
		}
	}
	for _, file := range surplus {
		t.Errorf("no page has the diagram of %s: `scripts/pictures.sh diagrams` removes it", file)
	}
}
