import type { RequestListener } from 'node:http'
import { dnsServer } from './dns-server'
import { authority, httpsOrigin } from './https-origin'
import type { DocumentHosts, HostsPlan } from './start-document-hosts'

/** Documents and keys: those of the clients at the host of all, and good ones at every host of the attacker. */
const answerWith =
  ({ redirectUri, jwks }: HostsPlan): RequestListener =>
  ({ url = '', headers: { host = '' } }, response) => {
    const isGood = /^\/(?:keys|client)\d*\.json$/.test(url)
    const document = {
      client_id: `https://${host}${url}`,
      client_name: 'Notes',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
    }
    response.writeHead(isGood ? 200 : 404, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify(url.startsWith('/keys') ? jwks : document))
  }

/** DNS and the https origin as a program. It tells where they are, and ends when its parent is gone. */
async function serve(plan: HostsPlan): Promise<void> {
  const dns = await dnsServer((name, type) => {
    if (name.endsWith('.silent.example')) return 'silence'
    return type === 'A' ? ['127.0.0.1'] : []
  })
  const origin = await httpsOrigin(authority.issue(plan.names), answerWith(plan))
  const hosts: DocumentHosts = { dns: dns.address, port: origin.port, ca: authority.ca }
  process.stdin.resume().on('close', () => process.exit())
  process.stdout.write(`${JSON.stringify(hosts)}\n`)
}

void serve(JSON.parse(process.argv[2] ?? '{}'))
