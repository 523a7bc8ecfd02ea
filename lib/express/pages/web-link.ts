import { html, type Html } from './html'

/** Reads an absolute http or https URL; anything else, such as `javascript:`, is none. */
export function webUrl(uri: string | undefined): URL | undefined {
  if (!uri || !URL.canParse(uri)) return undefined
  const url = new URL(uri)
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined
}

/** Links to a web page of the client in a new tab, so that the consent page stays; no link otherwise. */
export function webLink(uri: string | undefined, text?: string): Html | undefined {
  const url = webUrl(uri)
  if (!url) return undefined
  return html`<a href="${url.href}" target="_blank" rel="noopener noreferrer nofollow"
    >${text ?? url.host}</a
  >`
}

/** Names where a redirection URI leads: the host, the origin if it is not https, or the app's own scheme. */
export function destination(uri: string): string {
  const url = webUrl(uri)
  if (url) return url.protocol === 'https:' ? url.host : url.origin
  return URL.canParse(uri) ? `an app on this device (${new URL(uri).protocol})` : uri
}
