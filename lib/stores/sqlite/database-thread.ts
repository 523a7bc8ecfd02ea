import { Worker } from 'node:worker_threads'
import type { StoredValue } from '../../store/store'
import { threadProgram, type ThreadTerms } from './thread-program'

// Milliseconds that an act may wait: for another process's lock, and a create for its turn.
export const patience = 2000

const actsAtOnce = 32

// Times are milliseconds of the clock of the store; `until` is one of `elapsed`.
interface Act {
  readonly verb: 'read' | 'write' | 'remove' | 'add' | 'list' | 'close'
  readonly [word: string]: string | number | null | undefined
}

interface Reply {
  readonly found?: StoredValue
  readonly stored?: boolean
  readonly count?: number
  readonly ends?: number
  readonly keys?: readonly string[]
  readonly failure?: string
}

interface Call {
  readonly act: Act
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: Error) => void
}

// Milliseconds of the clock that all threads share.
export const elapsed = (): number => Number(process.hrtime.bigint() / 1_000_000n)

// Neither the disk nor a lock may hold the thread of the requests. Calls that arrive while it works go to it together.
export class DatabaseThread {
  private worker: Worker | undefined
  private waiting: Call[] = []
  private underWay: readonly Call[] = []

  constructor(private readonly terms: ThreadTerms) {}

  call(act: Act): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ act, resolve, reject })
      if (this.waiting.length === 1) queueMicrotask(() => this.send())
    })
  }

  async close(): Promise<void> {
    if (this.worker !== undefined || this.waiting.length > 0) await this.call({ verb: 'close' })
  }

  private send(): void {
    if (this.underWay.length > 0) return
    if (this.waiting.length === 0) {
      this.worker?.unref()
      return
    }
    this.underWay = this.waiting.splice(0, actsAtOnce)
    try {
      this.worker ??= this.start()
      this.worker.ref()
      this.worker.postMessage(
        this.underWay.map(({ act }) => act),
        [],
      )
    } catch (error) {
      this.end(error)
    }
  }

  private start(): Worker {
    const worker = new Worker(threadProgram, {
      eval: true,
      workerData: this.terms,
      // Node 22 and 24 call node:sqlite experimental.
      execArgv: ['--disable-warning=ExperimentalWarning'],
      env: {},
    })
    let cause: unknown
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', () => {
      if (this.worker === worker) this.end(cause)
    })
    worker.on('message', (replies: readonly Reply[]) => this.settle(replies))
    return worker
  }

  private settle(replies: readonly Reply[]): void {
    const calls = this.underWay
    calls.forEach(({ act, resolve, reject }, index) => {
      const { failure, ...reply } = replies[index] ?? { failure: 'LOST' }
      if (act.verb === 'close') this.worker = undefined
      if (failure === undefined) resolve(reply)
      else reject(new Error(sentences[failure] ?? `SQLite failed (${failure}).`))
    })
    // Node reads up to 1000 replies in one turn: a queue would hold the requests until it is empty.
    setImmediate(() => {
      if (this.underWay !== calls) return
      this.underWay = []
      this.send()
    })
  }

  // The next call starts another thread.
  private end(cause: unknown): void {
    const calls = [...this.underWay, ...this.waiting]
    this.worker = undefined
    this.underWay = []
    this.waiting = []
    const error = new Error('The thread of the database ended. The next call starts another one.', { cause })
    for (const { reject } of calls) reject(error)
  }
}

const sentences: Readonly<Record<string, string>> = {
  BUSY: `Another process held the lock of the database for ${patience / 1000} s. Long transactions of other programs, such as VACUUM, belong into a pause.`,
  CANTOPEN:
    'The file, or one beside it (-wal, -shm), cannot be opened. Its folder must exist, and the process needs the right to write both.',
  CORRUPT: 'The file is damaged. Restore it from a backup.',
  FOREIGN: 'The file holds the tables of another program. Name a file that the store has for itself.',
  FULL: 'The disk is full. Free some space.',
  GONE: 'The file, or its log (-wal), was deleted or replaced while it was in use. Put the file back; a restart begins with an empty one.',
  IOERR: 'The disk failed to read or write. The log of the system may say why.',
  LATE: 'The record was not created: its turn came too late.',
  NEWER: 'A newer version of this package made the file. Install that version again.',
  NOTADB: 'The file is no SQLite database. Name another one, or restore it from a backup.',
  READONLY: 'The file cannot be written. The process needs the right to write it and its folder.',
  REMOVED: 'The record was removed, so it is not created again.',
  TRUNCATED: 'The file was truncated while it was in use. Restore it from a backup.',
}
