import { spawn } from 'node:child_process'
import { Socket } from 'node:net'

// An exit handler would not do: Jest gives tests a copy of `process` whose exit event never comes, and a worker
// that is killed has none. But its end of this pipe closes however it dies. Ctrl-C reaches the whole group and
// must not take the watchdog first.
const script = 'trap "" INT TERM HUP; read -r _; kill -9 "$0"; rm -rf "$1"'

export function watch(pid: number, directory: string): { dismiss(): void } {
  const dog = spawn('/bin/sh', ['-c', script, String(pid), directory], {
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  dog.unref()
  if (dog.stdin instanceof Socket) dog.stdin.unref()
  return { dismiss: () => dog.kill('SIGKILL') }
}
