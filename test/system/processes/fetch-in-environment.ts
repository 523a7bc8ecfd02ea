import { fetchOf, outcomeOfFetch } from '../../support/flows/opened-documents'
import { authority, httpsOrigin } from '../../support/https-origin'

/** Fetches from an origin whose authority is known, and from one whose authority is not; writes what came of it. */
async function main(): Promise<void> {
  const origin = await httpsOrigin(authority.issue(['client.example']), (_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}')
  })
  const lookup = async () => [{ address: '127.0.0.1' }]
  const outcome = (ca: { ca?: string }) =>
    outcomeOfFetch(fetchOf({ lookup, ...ca }).fetch(`https://client.example:${origin.port}/`))
  const outcomes = { certified: await outcome({ ca: authority.ca }), uncertified: await outcome({}) }
  await origin.close()
  process.stdout.write(JSON.stringify(outcomes))
}

void main()
