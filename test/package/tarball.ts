import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'

/** A file of a package. */
export interface PackedFile {
  /** From the package's root. */
  readonly path: string
  readonly content: Buffer
}

const BLOCK = 512

const textAt = (block: Buffer, start: number, length: number): string => {
  const field = block.subarray(start, start + length)
  const end = field.indexOf(0)
  return field.subarray(0, end < 0 ? length : end).toString('utf8')
}

/**
 * Reads the files of a package's tarball: gzip over ustar, all below `package/`. Read here, since a machine with nothing
 * but Node has no `tar`. @see https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html (ustar Interchange Format)
 */
export const readTarball = (tarball: Buffer): readonly PackedFile[] => {
  const archive = gunzipSync(tarball)
  const files: PackedFile[] = []
  for (let at = 0; at + BLOCK <= archive.length && archive[at] !== 0; ) {
    const header = archive.subarray(at, at + BLOCK)
    const size = Number.parseInt(textAt(header, 124, 12), 8)
    const type = textAt(header, 156, 1)
    const prefix = textAt(header, 345, 155)
    const path = `${prefix === '' ? '' : `${prefix}/`}${textAt(header, 0, 100)}`
    if (type !== '0' && type !== '')
      throw new Error(`the tarball has ${path} of type ${type}, and only files are expected`)
    const start = at + BLOCK
    files.push({ path: path.replace(/^package\//, ''), content: archive.subarray(start, start + size) })
    at = start + Math.ceil(size / BLOCK) * BLOCK
  }
  return files
}

/** Writes a package's files into a folder, as an installation does. */
export const installFiles = (files: readonly PackedFile[], folder: string): void => {
  for (const { path, content } of files) {
    const target = join(folder, path)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, content)
  }
}
