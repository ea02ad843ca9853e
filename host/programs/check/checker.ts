/**
 * The TypeScript check of one program, and its JavaScript.
 *
 * Threat: the source is a model's. Nothing here runs it. The compiler sees three kinds of files, all in memory: the
 * program, its declarations and the language's own library; imports, references and type packages resolve to nothing.
 * Comments that switch checking off are findings themselves. Types that take the compiler minutes are cut by whoever
 * started this process.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import type { ProgramDiagnostic } from '../../../sdk/contract/program.ts';

export const MAX_DIAGNOSTICS = 20;
/** Characters of one finding's text. */
export const MAX_MESSAGE_CHARS = 300;

export interface CheckRequest {
  /** TypeScript declarations of everything that the program may use. */
  declarations: string;
  /** The body of an async function. */
  code: string;
}

export interface CheckResult {
  diagnostics: ProgramDiagnostic[];
  /** An expression that yields the async function; absent when there are findings. */
  javascript?: string;
  /** The mappings of its source map; the first line of the wrapper counts, so the program begins at line 1, from 0. */
  positions?: string;
}

const PROGRAM = '/program.ts';
const DECLARATIONS = '/granted.d.ts';
const BEFORE = '(async () => {\n';
const AFTER = '\n})';

const MAP_COMMENT = /\n?\/\/# sourceMappingURL=.*\s*$/;

const options: ts.CompilerOptions = {
  strict: true,
  skipLibCheck: true,
  types: [],
  noResolve: true,
  target: ts.ScriptTarget.ES2022,
  lib: ['lib.es2022.d.ts'],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  moduleDetection: ts.ModuleDetectionKind.Legacy,
  removeComments: true,
  newLine: ts.NewLineKind.LineFeed,
  sourceMap: true,
};

const libraryFolder = dirname(createRequire(import.meta.url).resolve('typescript'));
const LIBRARY = /^\/lib\/(lib\.[a-z0-9.]+\.d\.ts)$/;

/** Keeps the parsed library and the last program, which make every check after the first one quick. */
export class Checker {
  readonly #library = new Map<string, ts.SourceFile>();
  #texts = new Map<string, string>();
  #previous: ts.Program | undefined;
  #emitted = '';
  #positions = '';

  readonly #host: ts.CompilerHost = {
    getSourceFile: (name, language) => this.#sourceFile(name, language),
    getDefaultLibFileName: () => '/lib/lib.es2022.d.ts',
    getDefaultLibLocation: () => '/lib',
    writeFile: (name, text) => {
      if (name.endsWith('.map')) this.#positions = (JSON.parse(text) as { mappings: string }).mappings;
      else this.#emitted = text.replace(MAP_COMMENT, '');
    },
    getCurrentDirectory: () => '/',
    getCanonicalFileName: (name) => name,
    useCaseSensitiveFileNames: () => true,
    getNewLine: () => '\n',
    fileExists: (name) => this.#texts.has(name) || LIBRARY.test(name),
    readFile: (name) => this.#texts.get(name),
    directoryExists: () => false,
    getDirectories: () => [],
  };

  check({ declarations, code }: CheckRequest): CheckResult {
    const directives = findDirectives(code);
    if (directives.length > 0) return { diagnostics: directives };
    this.#texts = new Map([
      [DECLARATIONS, declarations],
      [PROGRAM, BEFORE + code + AFTER],
    ]);
    const program = ts.createProgram({
      rootNames: [DECLARATIONS, PROGRAM],
      options,
      host: this.#host,
      ...(this.#previous ? { oldProgram: this.#previous } : {}),
    });
    this.#previous = program;
    const file = program.getSourceFile(PROGRAM);
    const syntax = program.getSyntacticDiagnostics(file);
    // After a syntax error the meaning is a guess, and its findings would hide the one that matters.
    const found = syntax.length > 0 ? syntax : program.getSemanticDiagnostics(file);
    const errors = found.filter((entry) => entry.category === ts.DiagnosticCategory.Error);
    if (errors.length > 0) return { diagnostics: errors.slice(0, MAX_DIAGNOSTICS).map(inProgramLines) };
    this.#emitted = '';
    program.emit(file);
    return { diagnostics: [], javascript: this.#emitted.trimEnd().replace(/;$/, ''), positions: this.#positions };
  }

  #sourceFile(name: string, language: ts.ScriptTarget | ts.CreateSourceFileOptions): ts.SourceFile | undefined {
    const own = this.#texts.get(name);
    if (own !== undefined) return ts.createSourceFile(name, own, language, true);
    const known = this.#library.get(name);
    if (known) return known;
    const file = LIBRARY.exec(name)?.[1];
    if (!file) return undefined;
    const parsed = ts.createSourceFile(name, readFileSync(join(libraryFolder, file), 'utf8'), language);
    this.#library.set(name, parsed);
    return parsed;
  }
}

function inProgramLines(found: ts.Diagnostic): ProgramDiagnostic {
  const message = ts.flattenDiagnosticMessageText(found.messageText, ' ').slice(0, MAX_MESSAGE_CHARS);
  if (!found.file || found.start === undefined) return { line: 1, column: 1, code: found.code, message };
  const { line, character } = found.file.getLineAndCharacterOfPosition(found.start);
  // The wrapper's first line is not the program's, so the compiler's line 1 is the program's line 1.
  const lines = found.file.getLineStarts().length - 2;
  return { line: Math.min(Math.max(line, 1), Math.max(lines, 1)), column: character + 1, code: found.code, message };
}

const DIRECTIVE = /@ts-(?:nocheck|ignore|expect-error)|<reference\s/;

function findDirectives(code: string): ProgramDiagnostic[] {
  return code
    .split('\n')
    .flatMap((text, index) => {
      const found = DIRECTIVE.exec(text);
      if (!found) return [];
      const message = 'Comments that switch the type check off or pull in other files are not allowed in programs.';
      return [{ line: index + 1, column: found.index + 1, code: 0, message }];
    })
    .slice(0, MAX_DIAGNOSTICS);
}
