import type { DocumentFetch, FetchedDocument } from '../../lib/index'
import { metadataDocuments, type MetadataDocumentsOptions } from '../../lib/paths/registration'

export const clientId = 'https://notes.example/oauth/client.json'

/** The document of a native app, as such documents are in the field. */
export const document = {
  client_id: clientId,
  client_name: 'Note Taker',
  redirect_uris: ['http://127.0.0.1:3000/callback', 'https://notes.example/callback'],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
}

/** Documents by their URLs. */
export class Documents implements DocumentFetch {
  constructor(readonly answers: ReadonlyMap<string, unknown> = new Map([[clientId, document]])) {}

  async fetch(url: string): Promise<FetchedDocument> {
    return { json: this.answers.get(url), maximumAge: 60 }
  }
}

/** A source whose documents come from here. */
export function sourceOf(documents: DocumentFetch, options: MetadataDocumentsOptions = {}) {
  return metadataDocuments({ documents, ...options })
}
