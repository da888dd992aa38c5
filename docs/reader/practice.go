// Practice: the exercises beside the text, and their actions. The practice tool does the work.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"

	"example.com/informer/docs/book"
	"example.com/informer/scripts/harness/markdown"
	"example.com/informer/scripts/harness/web"
)

// practiceFolder has the program behind scripts/practice.sh.
const practiceFolder = "scripts/harness/practice"

// actions are the commands of the tool that a page can give.
var actions = []string{"start", "check", "hint", "solution", "keep", "reset"}

// A practice has the practice tool, which is built when it is needed for the first time.
type practice struct {
	mu   sync.Mutex
	tool *toolBuild // nil if none has begun, or if the last one has failed
}

// A toolBuild is a build of the practice tool.
type toolBuild struct {
	ended   chan struct{} // closed when there is a program or an error
	program string
	err     error
}

var exerciseFile = regexp.MustCompile(`^(\d\d-[\w-]+/practice)/([a-z][a-z-]*)\.md$`)

func (r *reader) findExercise(page string) (name string, ok bool) {
	match := exerciseFile.FindStringSubmatch(page)
	if match == nil || !r.hasFile(page) || !r.hasFile(fmt.Sprintf("%s/answers/%s.md", match[1], match[2])) {
		return "", false
	}
	return match[2], true
}

// practiceTool returns the path of the practice tool. While it is built, which the first call begins
// and which may take minutes, there is no path yet. After an error the next call builds again.
func (r *reader) practiceTool() (program string, built <-chan struct{}, err error) {
	r.practice.mu.Lock()
	defer r.practice.mu.Unlock()
	tool := r.practice.tool
	if tool == nil {
		tool = &toolBuild{ended: make(chan struct{})}
		r.practice.tool = tool
		r.stage.running.Go(func() {
			defer close(tool.ended)
			tool.program, tool.err = r.build(r.ctx, step{program: practiceFolder})
		})
	}
	select {
	case <-tool.ended:
		if tool.err != nil {
			r.practice.tool = nil
		}
		return tool.program, tool.ended, tool.err
	default:
		return "", tool.ended, nil
	}
}

// serveExercises answers with all exercises and their states, as the tool lists them, or says that
// the tool is being built.
func (r *reader) serveExercises(*gin.Context) (any, error) {
	if !r.hasFile(practiceFolder + "/main.go") {
		return []string{}, nil
	}
	program, _, err := r.practiceTool()
	switch {
	case err != nil:
		return nil, web.Errorf(http.StatusConflict, "%v", err)
	case program == "":
		return gin.H{"building": true}, nil
	}
	list, err := r.command(r.ctx, program, "list", "-json").Output()
	if err != nil || !json.Valid(list) {
		return nil, web.Errorf(http.StatusConflict, "scripts/practice.sh list -json: %v", err)
	}
	return json.RawMessage(list), nil
}

// servePractice answers a request for one of the actions, on one of the exercises.
func (r *reader) servePractice(c *gin.Context) (any, error) {
	page, action := c.Query("exercise"), c.Query("action")
	name, ok := r.findExercise(page)
	if !ok {
		return nil, web.Errorf(http.StatusNotFound, "there is no exercise %q", page)
	}
	if !slices.Contains(actions, action) {
		return nil, web.Errorf(http.StatusNotFound, "there is no action %q: want one of %q", action, actions)
	}
	return gin.H{}, r.stage.start(r.ctx, page, func(ctx context.Context, played *run) error {
		played.add(gin.H{"event": "build", "action": action, "id": time.Now().UnixMilli()})
		program, built, err := r.practiceTool()
		for ; program == "" && err == nil; program, built, err = r.practiceTool() {
			select {
			case <-built:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if err != nil {
			return err
		}
		played.add(gin.H{"event": "begin"})
		return r.practise(ctx, played, r.command(ctx, program, action, name))
	})
}

// practise runs the practice tool. What it prints are the events "progress". The verdict at the end
// is "ok", or "failed" if the tool has refused something or a check has failed. It has printed why.
func (r *reader) practise(ctx context.Context, played *run, tool *exec.Cmd) error {
	lines := played.progress()
	tool.Stdout, tool.Stderr = lines, lines
	err := r.run(tool)
	verdict := "ok"
	switch {
	case ctx.Err() != nil:
		verdict = "stopped"
	case errors.As(err, new(*exec.ExitError)):
		verdict = "failed"
	case err != nil:
		return err
	}
	played.add(gin.H{"event": "end", "verdict": verdict})
	return nil
}

// An exerciseNode is the place on a page where the buttons of an exercise are.
type exerciseNode struct {
	ast.BaseBlock
	page, name string
	title      string
	task       template.HTML // "" on the page of the exercise, which has it as its text
}

var kindExercise = ast.NewNodeKind("Exercise")

// Kind implements ast.Node.
func (*exerciseNode) Kind() ast.NodeKind { return kindExercise }

// Dump implements ast.Node.
func (n *exerciseNode) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// addExercises adds the places for buttons to a page: to the page of an exercise below its task,
// and to other pages below each paragraph that tells the reader to start the exercises that it
// links to. There the task is beside the buttons.
func (r *reader) addExercises(page string, tree ast.Node, source []byte) {
	if name, ok := r.findExercise(page); ok {
		check := tree.FirstChild()
		for check != nil && !isSection(check) {
			check = check.NextSibling()
		}
		tree.InsertBefore(tree, check, &exerciseNode{page: page, name: name})
		return
	}
	var paragraphs []ast.Node
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering && (n.Kind() == ast.KindParagraph || n.Kind() == ast.KindTextBlock) {
			paragraphs = append(paragraphs, n)
		}
		return ast.WalkContinue, nil
	})
	for _, p := range paragraphs {
		for _, exercise := range slices.Backward(r.exercisesIn(page, p, source)) {
			exercise.title, exercise.task = r.renderTask(exercise.page)
			p.Parent().InsertAfter(p.Parent(), p, exercise)
		}
	}
}

// renderTask returns the title of an exercise and its task, for another page.
func (r *reader) renderTask(page string) (title string, task template.HTML) {
	source, err := r.read(page)
	if err != nil {
		return "", ""
	}
	tree := markdown.Parse(source)
	isTask := true
	for n := tree.FirstChild(); n != nil; {
		next := n.NextSibling()
		isTask = isTask && !isSection(n)
		heading, ok := n.(*ast.Heading)
		if ok && heading.Level == 1 {
			title = markdown.PlainText(n, source)
		}
		if ok || !isTask {
			tree.RemoveChild(tree, n)
		}
		n = next
	}
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, ok := n.(*ast.Link); ok && entering && !strings.Contains(string(link.Destination), ":") {
			link.Destination = []byte("/" + path.Join(path.Dir(page), string(link.Destination)))
		}
		return ast.WalkContinue, nil
	})
	return title, r.newPageRenderer(source).render(tree)
}

// chapterOf returns the page of the book that leads to an exercise, or nil.
func (r *reader) chapterOf(b *book.Book, exercise string) *book.Entry {
	for _, page := range b.Chain() {
		text, err := r.read(page)
		if err == nil && page != "docs/practice.md" && strings.Contains(string(text), "../"+exercise+")") {
			return &book.Entry{Page: page, Title: b.Title(page)}
		}
	}
	return nil
}

func isSection(n ast.Node) bool {
	heading, ok := n.(*ast.Heading)
	return ok && heading.Level == 2
}

const startCommand = "scripts/practice.sh start "

// exercisesIn returns the exercises that a paragraph links to, if it tells the reader to start one. Of
// the commands that do so, it leaves the names of the exercises.
func (r *reader) exercisesIn(page string, paragraph ast.Node, source []byte) (all []*exerciseNode) {
	var commands []*ast.CodeSpan
	_ = ast.Walk(paragraph, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.CodeSpan:
			if entering && strings.HasPrefix(markdown.PlainText(n, source), startCommand) {
				commands = append(commands, n)
			}
		case *ast.Link:
			target := path.Join(path.Dir(page), string(n.Destination))
			if name, ok := r.findExercise(target); ok && entering {
				all = append(all, &exerciseNode{page: target, name: name})
			}
		}
		return ast.WalkContinue, nil
	})
	if commands == nil {
		return nil
	}
	for _, command := range commands {
		name := command.FirstChild().(*ast.Text) // the box has the button Start
		name.Segment = name.Segment.WithStart(name.Segment.Start + len(startCommand))
	}
	return all
}

// renderExercise renders the buttons of an exercise. Which of them are shown depends on its state,
// which the page asks for.
func renderExercise(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	exercise := n.(*exerciseNode)
	data := map[string]any{
		"Page": exercise.page, "Name": exercise.name, "Title": exercise.title, "Task": exercise.task,
	}
	return ast.WalkContinue, templates.ExecuteTemplate(w, "exercise.html", data)
}
