import { html, type Html } from '../lib/pages/html'

/** How the pages of one client look. */
export interface AppLook {
  readonly name: string
  /** What its stylesheet, its icon and its cookie are called. */
  readonly key: string
}

interface Frame {
  readonly title: string
  readonly icon: string
  readonly stylesheets: readonly string[]
}

/** A page of the demo that is in no frame of the suite. */
export function framed({ title, icon, stylesheets }: Frame, body: Html): string {
  return `<!doctype html>\n${String(
    html`<html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="icon" href="${icon}" />
        ${stylesheets.map((path) => html`<link rel="stylesheet" href="${path}" />`)}
      </head>
      <body>
        ${body}
      </body>
    </html>`,
  )}\n`
}

/** A page of a client, in the frame that all clients of the demo have. */
export function appPage({ name, key }: AppLook, content: Html): string {
  return framed(
    { title: name, icon: `/${key}.svg`, stylesheets: ['/base.css', `/${key}.css`] },
    html`<header class="top">
        <a href="/"><img src="/${key}.svg" alt="" width="28" height="28" />${name}</a>
      </header>
      <main>${content}</main>
      <footer class="bottom"><a href="/lumen">All apps of the demo</a></footer>`,
  )
}

/** While sessions, or Lumen, cannot be reached. */
export function awayPage(look: AppLook): string {
  return appPage(
    look,
    html`<p class="notice" role="alert">
      ${look.name} cannot look up your visit at the moment. Wait a little, then load this page again.
    </p>`,
  )
}

/** What an app may tell at the top of its page, by the code of the notice. */
export interface Notices {
  /** What visitors did themselves. */
  readonly news: Readonly<Record<string, string>>
  readonly problems: Readonly<Record<string, string>>
}

/** A notice at the top of a page. The code may come from the URL. */
export function noticeOf({ news, problems }: Notices, code: string): Html {
  const told = textOf(news, code)
  if (told !== undefined) return html`<p class="notice" role="status">${told}</p>`
  const message = textOf(problems, code) ?? `Lumen could not do that just now (${code}). Please try again.`
  return html`<p class="notice" role="alert">${message}</p>`
}

function textOf(texts: Readonly<Record<string, string>>, code: string): string | undefined {
  return Object.hasOwn(texts, code) ? texts[code] : undefined
}

/** One line of a list of facts. */
export function fact(name: string, value: string | undefined): Html {
  return html`<div>
    <dt>${name}</dt>
    <dd>${value ?? 'unknown'}</dd>
  </div>`
}

/** A credential as a page may show it. Its end is what changes visibly: all of one authorization begin alike. */
export function shortened(credential: string): string {
  return `${credential.slice(0, 7)}…${credential.slice(-5)}`
}
