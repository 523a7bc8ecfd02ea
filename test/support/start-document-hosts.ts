import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { bundled } from './bundled'

/** What the hosts serve. */
export interface HostsPlan {
  /** The names in the certificate of the origin. */
  readonly names: readonly string[]
  /** The redirection URI of every document of a client. */
  readonly redirectUri: string
  /** The keys at every URL of keys. */
  readonly jwks: object
}

/** Where the hosts are. */
export interface DocumentHosts {
  /** The address of the DNS server, with its port. Every name has 127.0.0.1; names in `silent.example` get no answer. */
  readonly dns: string
  /** The port of the https origin, which answers for every name. */
  readonly port: number
  /** The certificate authority of the origin, PEM. */
  readonly ca: string
}

/**
 * Starts DNS and an https origin in a process of their own: the 2 seconds of a document count what they take, and a
 * busy test would be slower than any host.
 */
export async function startDocumentHosts(
  plan: HostsPlan,
): Promise<DocumentHosts & { stop(): Promise<void> }> {
  const program = bundled(join(__dirname, 'document-hosts-process.ts'))
  const child = spawn(process.execPath, [program, JSON.stringify(plan)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const gone = once(child, 'exit')
  const line = once(createInterface(child.stdout), 'line')
  const first = await Promise.race([line, gone.then(() => undefined)])
  if (first === undefined) throw new Error('The hosts of documents did not start.')
  const hosts: DocumentHosts = JSON.parse(String(first[0]))
  return {
    ...hosts,
    stop: async () => {
      child.kill('SIGKILL')
      await gone
    },
  }
}
