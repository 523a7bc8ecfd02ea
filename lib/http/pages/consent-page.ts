import { html, type Html, pageDocument } from './html'

/** What the resource owner is asked: which client, which scope, as whom, and what the form sends back. */
export interface ConsentView {
  readonly client: {
    readonly client_id: string
    readonly client_name?: string | undefined
    readonly client_uri?: string | undefined
    readonly description?: string | undefined
    readonly logo_uri?: string | undefined
    readonly policy_uri?: string | undefined
    readonly tos_uri?: string | undefined
  }
  readonly resourceOwner: { readonly subject: string; readonly name?: string | undefined }
  readonly scope: readonly { readonly token: string; readonly description: string }[]
  readonly action: string
  readonly fields: Readonly<Record<string, string>>
  readonly redirectTo: string
}

/** Renders the question as a whole document; every value in it is escaped, and only web URLs become links. */
export function consentPage(view: ConsentView): string {
  const { client, resourceOwner } = view
  const name = clientNameOf(client)
  return pageDocument({
    title: `Allow ${name} to access your account?`,
    content: html`
      <header class="intro">
        ${mark(name, client.logo_uri)}
        <h1>
          <bdi class="name">${name}</bdi>
          <span class="subtitle">wants to access your account</span>
        </h1>
        ${webLink(client.client_uri)}
        ${client.description && html`<p class="description" dir="auto">${client.description}</p>`}
      </header>
      ${permissions(view.scope)}
      <dl class="facts">
        <div>
          <dt>Signed in as</dt>
          <dd><bdi>${resourceOwner.name || resourceOwner.subject}</bdi></dd>
        </div>
        <div>
          <dt>Returns you to</dt>
          <dd><bdi>${destination(view.redirectTo)}</bdi></dd>
        </div>
      </dl>
      <form method="post" action="${view.action}" autocomplete="off">
        ${Object.entries(view.fields).map(([key, value]) => html`<input type="hidden" name="${key}" value="${value}" />`)}
        <div class="actions">
          <button type="submit" name="decision" value="deny">Cancel</button>
          <button type="submit" name="decision" value="approve" class="primary">Allow</button>
        </div>
      </form>
      ${fineprint(client)}
    `,
  })
}

// A logo that does not load shows its alternative text, hence the initial; to a screen reader both are noise.
function mark(name: string, logoUri: string | undefined): Html {
  const initial = /[\p{L}\p{N}\p{Extended_Pictographic}]/u.exec(name)?.[0].toUpperCase() ?? '?'
  const logo = webUrl(logoUri)
  const picture =
    logo?.protocol === 'https:' &&
    html`<img src="${logo.href}" alt="${initial}" referrerpolicy="no-referrer" />`
  return html`<div class="mark" aria-hidden="true">${picture || initial}</div>`
}

function permissions(scope: ConsentView['scope']): Html {
  if (scope.length === 0) return html`<p class="permissions">It asks for no particular permission.</p>`
  return html`<section class="permissions">
    <h2>It will be able to</h2>
    <ul>
      ${scope.map(
        ({ token, description }) =>
          html`<li>
            <span dir="auto">${description}</span>${token !== description && html`<code>${token}</code>`}
          </li>`,
      )}
    </ul>
  </section>`
}

function fineprint(client: ConsentView['client']): Html | undefined {
  const policy = webLink(client.policy_uri, 'Privacy policy')
  const terms = webLink(client.tos_uri, 'Terms of service')
  return policy || terms ? html`<footer class="fineprint">${policy} ${terms}</footer>` : undefined
}

/** What a page calls a client: its name, or its identifier where nothing of the name would be seen. */
export function clientNameOf(client: {
  readonly client_id: string
  readonly client_name?: string | undefined
}): string {
  return isSeen(client.client_name) ? client.client_name.trim() : client.client_id
}

// A name of joiners, marks and spaces alone shows nothing, and the page would be about nobody.
function isSeen(name: string | undefined): name is string {
  return name !== undefined && /[\p{L}\p{N}\p{P}\p{S}]/u.test(name)
}

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
