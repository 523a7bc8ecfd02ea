import {
  metadataDocuments,
  type MetadataDocumentsOptions,
} from '../../lib/clients/metadata-documents/metadata-documents'
import type { DocumentFetch, DocumentInquiry } from '../../lib/clients/document-fetch/document-fetch'
import type { FetchedDocument } from '../../lib/clients/document-fetch/request-document'
import type { ClientSource } from '../../lib/clients/client-source'

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

/** Documents by their URLs, which count their fetches. */
export class Documents implements DocumentFetch {
  readonly asked: string[] = []
  /** Runs before each answer. */
  before: () => Promise<unknown> = async () => {}

  constructor(
    readonly answers: Map<string, unknown> = new Map([[clientId, document]]),
    public maximumAge = 60,
  ) {}

  async fetch(url: string, _maximumSize?: number, _inquiry?: DocumentInquiry): Promise<FetchedDocument> {
    this.asked.push(url)
    await this.before()
    const json = this.answers.get(url)
    if (json instanceof Error) throw json
    return { json, maximumAge: this.maximumAge }
  }
}

/** A source whose documents come from here. */
export function sourceOf(documents: DocumentFetch, options: MetadataDocumentsOptions = {}): ClientSource {
  return metadataDocuments({ documents, ...options })
}
