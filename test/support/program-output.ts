import type { ChildProcess } from 'node:child_process'
import { within } from './wait-until'

/** Reads the output of a program that has just been started. @param name how errors call it. */
export function outputOf(child: ChildProcess, name: string) {
  let text = ''
  let isOver = false
  const readers = new Set<() => void>()
  const tell = () => {
    for (const reader of readers) reader()
  }
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      tell()
    })
  const end = (error?: unknown): void => {
    if (error instanceof Error) text += String(error)
    isOver = true
    tell()
  }
  child.once('close', () => end()).once('error', end)
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve()).once('error', () => resolve())
  })
  const until = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = (): void => {
        const found = pattern.exec(text)
        if (found === null && !isOver) return
        readers.delete(look)
        if (found === null) reject(new Error(`${name} did not start:\n${text}`))
        else resolve(found)
      }
      readers.add(look)
      look()
    })
  return {
    /** All that it has written. */
    text: () => text,
    /** Resolves to what it wrote that matches; an error with all that it wrote if it ends before, or takes too long. */
    until: (pattern: RegExp) => within(`${name} has written ${pattern}`, until(pattern), () => text),
    /** Resolves when it has ended; an error if that takes too long. */
    ended: () => within(`${name} has ended`, gone, () => text),
  }
}

/** Whether a program could not start because its port is taken, which another port cures. */
export const isPortTaken = (error: unknown): boolean => String(error).includes('Address already in use')
