import { documentFetch } from '../../../lib/clients/document-fetch/document-fetch'
import { DocumentUnavailable } from '../../../lib/clients/document-fetch/document-unavailable'
import { authority, httpsOrigin } from '../../support/https-origin'

/** Fetches from an origin whose authority is known, and from one whose authority is not; writes what came of it. */
async function main(): Promise<void> {
  const origin = await httpsOrigin(authority.issue(['client.example']), (_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}')
  })
  const outcome = async (ca?: string) => {
    const lookup = async () => [{ address: '127.0.0.1' }]
    const documents = documentFetch({
      loopback: true,
      timeout: 60_000,
      lookup,
      ...(ca !== undefined && { ca }),
    })
    return documents.fetch(`https://client.example:${origin.port}/`).then(
      () => 'document',
      (error: unknown) => (error instanceof DocumentUnavailable ? error.reason : String(error)),
    )
  }
  const outcomes = { certified: await outcome(authority.ca), uncertified: await outcome() }
  await origin.close()
  process.stdout.write(JSON.stringify(outcomes))
}

void main()
