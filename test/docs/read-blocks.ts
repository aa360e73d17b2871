import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../support/compile-files.js'

/** A block of TypeScript of a page. */
export interface Block {
  /** The page's path from the project's folder. */
  readonly page: string
  /** The line of its first line in the page, from 1. */
  readonly line: number
  readonly lines: readonly string[]
}

/** The blocks that a page has between fences of `ts`, in order. */
export const readBlocks = (page: string): readonly Block[] => {
  const blocks: Block[] = []
  let open: { line: number; indent: string; lines: string[] } | undefined
  for (const [index, text] of readFileSync(join(projectRoot, page), 'utf8').split('\n').entries()) {
    const [, indent = '', fence] = /^( *)```(\w*)/.exec(text) ?? []
    if (fence === undefined) open?.lines.push(text.startsWith(open.indent) ? text.slice(open.indent.length) : text)
    else if (open !== undefined) {
      blocks.push({ page, line: open.line, lines: open.lines })
      open = undefined
    } else if (fence === 'ts') open = { line: index + 2, indent, lines: [] }
  }
  return blocks
}

/** Blocks as one module in which every line stands where it does in the page. */
export const toModule = (blocks: readonly Block[]): string => {
  const lines: string[] = []
  for (const block of blocks) {
    while (lines.length < block.line - 1) lines.push('')
    lines.push(...block.lines)
  }
  // What has no import or export would be a script, whose names all other scripts would see.
  return `${lines.join('\n')}\nexport {}\n`
}

/** What a line of a page says that it prints. */
export interface PromisedLine {
  /** The line in the page, from 1. */
  readonly line: number
  /** The text, in which `…` stands for any. */
  readonly text: string
}

/** What blocks say that they print: `console.log(…) // => text`. */
export const readPromises = (blocks: readonly Block[]): readonly PromisedLine[] =>
  blocks.flatMap(({ line, lines }) =>
    lines.flatMap((code, index) => {
      const [, text] = /console\.log\(.*\/\/ => (.*)$/.exec(code) ?? []
      return text === undefined ? [] : [{ line: line + index, text: text.trim() }]
    }),
  )

/** Whether a printed text is what was promised. */
export const keepsPromise = (printed: string, promised: string): boolean => {
  const parts = promised.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 's').test(printed)
}
