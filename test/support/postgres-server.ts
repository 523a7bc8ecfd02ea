import { execFileSync, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { chownSync, existsSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { postgresProgram, requireProgram } from './program'
import { isPortTaken, outputOf } from './program-output'
import { watch } from './watchdog'

const caches = join(__dirname, '../../node_modules/.cache/postgres')

export interface PostgresServer {
  /** `postgres://` URL of an empty database. */
  url: string
  port: number
  kill(signal: NodeJS.Signals): Promise<void>
  /** Starts it again where it was, after it was killed. */
  restart(): Promise<PostgresServer>
  stop(): Promise<void>
}

/**
 * A server of the test's own, in a temporary directory.
 *
 * @param primary whose standby it is: it follows its changes.
 * @param more settings.
 */
export async function startPostgres(
  primary?: PostgresServer,
  more: readonly string[] = [],
): Promise<PostgresServer> {
  const program = requireProgram(postgresProgram)
  const owner = ownerOfDatabases()
  const directory = mkdtempSync(join(tmpdir(), 'postgres-'))
  if (owner !== undefined) chownSync(directory, owner.uid, owner.gid)
  const asOwner = { ...owner, cwd: directory }
  const data = join(directory, 'data')
  const make = (name: string, words: readonly string[]) =>
    execFileSync(join(dirname(realpathSync(program)), name), ['--pgdata', data, '--no-sync', ...words], {
      ...asOwner,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
  // Nothing here outlives a test, so nothing is forced to disk.
  const unused = join(caches, realpathSync(program).replaceAll('/', '+'))
  if (primary !== undefined)
    make('pg_basebackup', ['--dbname', primary.url, '--write-recovery-conf', '--checkpoint=fast'])
  else if (existsSync(unused)) copy(unused, data)
  else {
    make('initdb', ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8'])
    keep(data, unused)
  }
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startAt(randomInt(11_000, 22_000))
    } catch (error) {
      if (isPortTaken(error) && attempt < 20) continue
      rmSync(directory, { recursive: true, force: true })
      throw error
    }
  }

  async function startAt(port: number): Promise<PostgresServer> {
    const settings = [
      'listen_addresses=127.0.0.1',
      `unix_socket_directories=${directory}`,
      'dynamic_shared_memory_type=mmap',
      'fsync=off',
      'max_connections=200',
      'wal_retrieve_retry_interval=100ms',
      ...more,
    ]
    const child = spawn(
      program,
      ['-D', data, '-p', String(port), ...settings.flatMap((one) => ['-c', one])],
      // Piped, never inherited: a process left behind would keep the pipe of whoever reads our output open.
      { ...asOwner, stdio: ['ignore', 'pipe', 'pipe'] },
    )
    const watchdog = child.pid === undefined ? undefined : watch(child.pid, directory)
    const output = outputOf(child, 'The PostgreSQL server')
    const kill = async (signal: NodeJS.Signals): Promise<void> => {
      child.ref()
      child.kill(signal)
      if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') await output.ended()
    }
    try {
      await output.until(/ready to accept (?:read-only )?connections/)
    } catch (error) {
      watchdog?.dismiss()
      throw error
    }
    // A test that forgets to stop it must not keep its worker from exiting.
    child.unref()
    for (const stream of [child.stdout, child.stderr]) if (stream instanceof Socket) stream.unref()
    const stop = async (): Promise<void> => {
      // An immediate shutdown: it ends its own processes, which a SIGKILL would not.
      await kill('SIGQUIT')
      watchdog?.dismiss()
      rmSync(directory, { recursive: true, force: true })
    }
    const restart = () => {
      watchdog?.dismiss()
      return startAt(port)
    }
    return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, port, kill, restart, stop }
  }
}

const copy = (from: string, to: string) => execFileSync('cp', ['-a', from, to])

/** A copy takes a fifth of the time of `initdb`. */
function keep(data: string, unused: string): void {
  const draft = `${unused}.${process.pid}`
  mkdirSync(caches, { recursive: true })
  copy(data, draft)
  // Another process may have kept one.
  if (existsSync(unused)) rmSync(draft, { recursive: true })
  else renameSync(draft, unused)
}

/** PostgreSQL refuses to run as root; Debian's package made it a user. */
function ownerOfDatabases(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const [uid, gid] = ['-u', '-g'].map((which) =>
    execFileSync('id', [which, 'postgres'], { encoding: 'utf8' }),
  )
  return { uid: Number(uid), gid: Number(gid) }
}
