import { html, type Html } from '../lib/pages/html'
import { appPage, noticeOf, type AppLook, type Notices } from './app-page'
import type { Exchange } from './exchange'

export const attackLab: AppLook = { name: 'Attack Lab', key: 'attack-lab' }

/** The attacks, by the path that starts them and shows what happened. */
const attacks = {
  replay: {
    name: 'Use a code twice',
    button: 'Steal a code',
    outcome: 'The thief got nothing, and Lumen ended all that the code had opened.',
    invitation:
      'You allow Attack Lab to see your photos. Lumen sends it a code, which it uses as the honest app would. Then it uses the same code again, as a thief would.',
  },
  guesses: {
    name: 'Guess a secret',
    button: 'Guess a secret',
    outcome: 'Lumen stopped the guesses, and the real service did not notice.',
    invitation:
      'Attack Lab pretends to be Nightly Report, another client of Lumen, and guesses at its secret until Lumen has had enough.',
  },
} as const

/** What the paths of the attacks are called. */
export type AttackName = keyof typeof attacks

export const attackNames: readonly AttackName[] = ['replay', 'guesses']

/** The front page: what there is to try. */
export function homePage(notice: string | undefined): string {
  return appPage(
    attackLab,
    html`
      ${notice !== undefined && noticeOf(notices, notice)}
      <header class="lead">
        <h1>Attack Lumen, and watch.</h1>
        <p>
          Each button sends real requests to Lumen. You then see what was sent, what Lumen answered, and why.
          Nothing breaks, and you can press as often as you like.
        </p>
      </header>
      <div class="attacks">
        ${attackNames.map(
          (name) =>
            html`<section class="panel">
              <h2>${attacks[name].name}</h2>
              <p>${attacks[name].invitation}</p>
              <form method="post" action="/${name}">
                <button class="primary">${attacks[name].button}</button>
              </form>
            </section>`,
        )}
      </div>
    `,
  )
}

/** What happened, step by step. */
export function attackPage(name: AttackName, exchanges: readonly Exchange[]): string {
  return appPage(
    attackLab,
    html`
      <header class="lead">
        <h1>${attacks[name].name}</h1>
        <p>${attacks[name].outcome}</p>
      </header>
      <ol class="exchanges">
        ${exchanges.map(step)}
      </ol>
      <div class="actions">
        <form method="post" action="/${name}"><button>Try again</button></form>
        <form action="/"><button class="quiet">Back to the attacks</button></form>
      </div>
    `,
  )
}

function step({ title, why, clause, sent, status, answered, isRefused }: Exchange): Html {
  return html`<li class="panel">
    <div class="meaning">
      <h2>${title}</h2>
      <p>${why}</p>
      <p><a href="${clause.url}" rel="noreferrer">${clause.name}</a></p>
    </div>
    <dl class="wire">
      <dt>Sent</dt>
      <dd><pre>${sent.join('\n')}</pre></dd>
      <dt>Answered</dt>
      <dd ${isRefused && html`class="refused"`}>
        <pre><strong>${status}</strong>${answered.map((line) => `\n${line}`).join('')}</pre>
      </dd>
    </dl>
  </li>`
}

const notices: Notices = {
  news: {
    access_denied: 'You did not allow it, so there was no code to steal. Nothing was shared.',
  },
  problems: {
    state_mismatch: 'That answer does not belong to an attack that you began here. Please start again.',
    issuer_mismatch: 'That answer did not come from Lumen. Please start again.',
  },
}
