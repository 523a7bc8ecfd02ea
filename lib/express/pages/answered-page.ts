import { pageDocument } from './document'
import { html } from './html'
import { destination } from './web-link'

/** Which client has the answer already, and where it is at home on the web. */
export interface AnsweredView {
  readonly clientName: string
  /** Registered for the client, and nothing of the answer in it; undefined for an app that has no place on the web. */
  readonly home: string | undefined
}

/** Renders what the resource owner is told who allowed access before, when the answer is not to be given again. */
export function answeredPage({ clientName, home }: AnsweredView): string {
  const title = 'You allowed access already'
  return pageDocument({
    title,
    content: html`
      <header class="intro">
        <div class="mark" aria-hidden="true">✓</div>
        <h1>${title}</h1>
        <p>This is done. Go back to <bdi class="name">${clientName}</bdi> to go on.</p>
      </header>
      <p class="assurance">
        If the app asks for access again, your answer was lost on its way: allow it once more.
      </p>
      ${
        home !== undefined &&
        html`<div class="actions">
          <a class="primary" href="${home}" rel="noreferrer">Go to <bdi>${destination(home)}</bdi></a>
        </div>`
      }
    `,
  })
}
