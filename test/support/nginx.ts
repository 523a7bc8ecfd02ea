import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nginxProgram, requireProgram } from './program'
import { outputOf } from './program-output'
import { waitUntil } from './wait-until'
import { watch } from './watchdog'

/** The header in which a response names the server that has answered. */
export const answeredBy = 'x-answered-by'

/** Where nginx listens, and what stands behind it. */
interface ProxyPlan {
  readonly port: number
  /** The path below which the servers are found, such as `/accounts`. They do not see it. */
  readonly prefix: string
  readonly servers: readonly string[]
}

/** Starts nginx on loopback, in one process without children. */
export async function startNginx(plan: ProxyPlan) {
  const directory = mkdtempSync(join(tmpdir(), 'nginx-'))
  writeFileSync(join(directory, 'nginx.conf'), configuration(plan))
  const words = ['-p', directory, '-c', 'nginx.conf', '-e', 'stderr']
  const child = spawn(requireProgram(nginxProgram), words, { stdio: ['ignore', 'ignore', 'pipe'] })
  const dog = child.pid === undefined ? undefined : watch(child.pid, directory)
  const written = outputOf(child, 'nginx')
  await waitUntil('nginx listens', async () => {
    if (child.exitCode !== null) throw new Error(`nginx did not start:\n${written.text()}`)
    return fetch(`http://127.0.0.1:${plan.port}/`).then(
      () => true,
      () => false,
    )
  })
  return {
    stop: async () => {
      child.kill('SIGQUIT')
      await written.ended()
      dog?.dismiss()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

const configuration = ({ port, prefix, servers }: ProxyPlan): string => `
daemon off;
master_process off;
pid nginx.pid;
error_log stderr warn;
events { worker_connections 128; }
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`).join(' ')}
  # Without another word, requests go to the servers in turn, whatever their session.
  upstream hosts { ${servers.map((url) => `server ${new URL(url).host};`).join(' ')} }
  server {
    listen 127.0.0.1:${port};
    location = / { return 204; }
    location ${prefix}/ {
      proxy_pass http://hosts/;
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Forwarded-Prefix ${prefix};
      add_header ${answeredBy} $upstream_addr always;
    }
  }
}
`
