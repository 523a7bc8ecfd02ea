import { html } from '../html'
import type { PageTexts } from './texts'

export const ja: PageTexts = {
  common: {
    signedInAs: 'ログイン中のアカウント',
    returnsTo: '戻り先',
    appOnDevice: (scheme) => `この端末のアプリ（${scheme}）`,
    noAccess: 'アクセスは許可されていません。',
  },
  consent: {
    title: (client) => html`${client}にアカウントへのアクセスを許可しますか？`,
    request: 'アカウントへのアクセスを求めています',
    requestAt: (service) => html`${service}のアカウントへのアクセスを求めています`,
    notYou: '別のアカウントを使う',
    unverifiedMark: '未確認',
    origin: (host) => html`${host}のアプリ`,
    notRegistered: 'このアプリはここに登録されていません。',
    selfRegistered: 'このアプリは自分自身でここに登録しました。',
    ownClaim: '名前はアプリが自分で名乗っているものです。',
    certain: (host) => html`確かなのは、${host}がこのアプリの情報を公開していることだけです。`,
    deviceTitle: 'アクセス権はこの端末のプログラムに渡されます。',
    device: 'ご自身で起動した直後でなければ、キャンセルしてください。',
    appTitle: 'アクセス権はこの端末のアプリに渡されます。',
    app: '別のアプリがなりすますおそれがあります。ご自身で起動した直後でなければ、キャンセルしてください。',
    permissions: 'このアプリに許可する操作',
    noPermission: '特定の権限は求められていません。',
    dangerous: '許可する前によくご確認ください',
    allowedBefore: 'すでに許可している内容',
    dangerMark: '影響大',
    writeMark: '変更あり',
    optional: 'チェックボックスのある項目は任意です。チェックした項目だけがアプリに許可されます。',
    choose: '選択してください',
    obstacle: '現在、許可することができません。',
    noAnswer: 'このアプリがアクセスできるものがありません。',
    manage: (link) => html`アクセスは${link}からいつでも取り消せます。`,
    manageLink: '連携中のアプリ',
    facts: { resource: 'アクセス先', claims: 'あなたについて' },
    policy: 'プライバシーポリシー',
    terms: '利用規約',
    cancel: 'キャンセル',
    allow: '許可する',
  },
  error: {
    refusedTitle: 'このリクエストは続行できません',
    troubleTitle: '現在、この操作は行えません',
    nothingShared: '情報は何も共有されていません。',
    reference: '照会番号',
    details: 'アプリの開発者向けの詳細：',
    backTo: (client) => html`${client}に戻る`,
    explanations: {
      requestOver: {
        happened: 'このページは古くなっているか、すでに回答されています。',
        advice: 'アプリに戻って、最初からやり直してください。',
      },
      anotherAccount: {
        happened: 'この確認は、現在ログイン中のアカウントとは別のアカウントに対するものです。',
        advice: 'アプリに戻り、使用したいアカウントで最初からやり直してください。',
      },
      notSignedIn: {
        happened: 'ログインしていない状態になりました。',
        advice: 'アプリに戻って、最初からやり直してください。その際にログインできます。',
      },
      loginLost: {
        happened: 'ログインの情報がこのページに届きませんでした。',
        advice: 'このサイトのCookieを許可してから、アプリに戻って最初からやり直してください。',
      },
      appFault: {
        happened: 'アプリから正しくないリクエストが送信されました。お客様の操作に問題はありません。',
        advice: 'アプリの開発者にお知らせください。このページは閉じてかまいません。',
      },
      appUnknown: {
        happened: 'このアプリはここでは知られていないか、停止されています。',
        advice:
          '信頼できるアプリであれば、開発者にお知らせください。そうでなければ、このページを閉じてください。',
      },
      appUnreachable: {
        happened: 'アプリが公開している情報を読み取れなかったため、アプリを確認できませんでした。',
        advice: '数分後にもう一度お試しください。同じことが起きる場合は、アプリの開発者にお知らせください。',
      },
      tooMany: {
        happened: '短時間に操作が多すぎました。',
        advice: '数分待ってから、このページを再読み込みしてください。',
      },
      tooManyApps: {
        happened: 'このアカウントでアクセスを許可できる未登録のアプリの数が上限に達しています。',
        advice: '使わなくなったアプリを一つ削除してから、アプリに戻って最初からやり直してください。',
      },
      unavailable: {
        happened: '現在、こちらで問題が発生しています。',
        advice: 'しばらく待ってから、このページを再読み込みしてください。',
      },
      otherSite: {
        happened: 'この回答は、確認のページからではなく、別のサイトから送信されました。',
        advice:
          'このページを閉じてください。アクセスを許可するつもりだった場合は、アプリに戻って最初からやり直してください。',
      },
      incompleteForm: {
        happened: '回答が正しい形で届きませんでした。',
        advice: '前のページに戻って、もう一度回答してください。',
      },
      unprotected: {
        happened: 'このページへの接続は暗号化されていません。',
        advice: 'このページを閉じて、サイトの運営者にお知らせください。',
      },
      other: {
        happened: 'このリクエストは実行できません。',
        advice:
          'アプリに戻って、もう一度お試しください。同じことが起きる場合は、アプリの開発者にお知らせください。',
      },
    },
  },
  logout: {
    title: 'ログアウトしますか？',
    loggedInAs: (owner) => html`${owner}としてログインしています。`,
    asks: (client) => html`${client}がログアウトを求めています。`,
    stay: 'ログインしたままにする',
    logOut: 'ログアウト',
    doneTitle: 'ログアウトしました',
    done: 'このページは閉じてかまいません。',
    stayedTitle: 'ログインしたままです',
    stayed: '何も変更されていません。',
    backTo: (client) => html`${client}に戻る`,
  },
  connected: {
    title: '連携中のアプリ',
    intro: '次のアプリがアカウントにアクセスできます。使わなくなったアプリは削除してください。',
    none: 'アカウントにアクセスできるアプリはありません。',
    permissions: 'このアプリに許可した操作',
    since: (day) => html`許可した日：${day}`,
    lastIssued: (day) => html`最後に更新された日：${day}`,
    remove: '削除',
    removeClient: (client) => html`${client}を削除`,
    removeTitle: (client) => html`${client}のアクセスを削除しますか？`,
    removeConsequence:
      '削除すると、アプリは改めて許可を求める必要があります。アプリがすでに読み取ったり変更したりしたものは元に戻りません。',
    keep: '残す',
    removed: (client) => html`${client}のアクセスを削除しました。`,
    soon: 'すべてのサービスに反映されるまで、少し時間がかかることがあります。',
    incomplete:
      '以前に許可したアプリがこの一覧に表示されていないことがあります。アプリが次にアクセスを更新したときに表示されます。',
    previous: '前へ',
    next: '次へ',
  },
  device: {
    title: 'デバイスを接続',
    intro: 'デバイスに表示されているコードを入力してください。',
    fromLink:
      'このコードはリンクから入力されました。お手元のデバイスに今同じコードが表示されている場合だけ、続けてください。',
    code: 'コード',
    next: '続ける',
    unknown:
      'このコードは見つからないか、期限が切れたか、すでに使われています。デバイスの表示と見比べるか、デバイスでもう一度始めてください。',
    tooMany: '間違ったコードが多すぎます。数分待ってから、もう一度お試しください。',
    warningTitle: 'このコードやリンクは、誰かから送られてきたものですか?',
    warning:
      'その場合は、ここで中止してください。送り主はあなたのアカウントにアクセスしようとしています。目の前にあり、ご自分で今操作を始めたデバイスのコードである場合だけ、続けてください。',
    request: '別のデバイスからアカウントへのアクセスを求めています',
    requestedFrom: '要求元',
    requestedAt: '要求の時刻',
    approvedTitle: 'デバイスからアクセスできるようになりました',
    approved: (client) => html`デバイスに戻ってください。${client}はそこで続行します。`,
    deniedTitle: 'デバイスにアクセスは許可されませんでした',
    denied: 'このページを閉じてかまいません。',
  },
  answered: {
    title: 'アクセスはすでに許可されています',
    done: (client) => html`手続きは完了しています。${client}に戻って続けてください。`,
    lost: 'アプリが再びアクセスを求める場合は、回答が途中で失われています。もう一度許可してください。',
    goTo: (host) => html`${host}へ進む`,
  },
  continue: {
    approvedTitle: 'アクセスを許可しました',
    refusedTitle: 'アクセスは許可されていません',
    oneStep: (destination) => html`あと一歩です。${destination}に戻ってください。`,
    continue: '続ける',
    linkIsYours: 'このリンクはご本人専用です。許可したアクセス権が含まれています。',
  },
  insecureRedirect: {
    title: '戻り先の接続が保護されていません',
    unprotected:
      'お使いのアプリへの接続は暗号化されていません。同じネットワークにいる第三者が、送信内容を読み取ったり変更したりできます。',
    unprotectedAccess:
      'お使いのアプリへの接続は暗号化されていません。同じネットワークにいる第三者が、送信内容を読み取ったり変更したりでき、今許可したアクセス権を使うおそれもあります。',
    nothingSent: 'まだ何も送信されていません。',
    stopAccess: '中止するには、このページを閉じてください。アプリはアクセスできません。',
    stop: '中止するには、このページを閉じてください。アプリには何も伝わりません。',
    continue: '保護なしで続ける',
  },
  unverified: {
    notChecked: 'このリクエストは、ここで確認されていないアプリから届きました。',
    trouble: '現在、こちらで問題が発生しています。',
    tryAgain: 'しばらく待ってから、このページを再読み込みしてください。',
    careful:
      '今そのアプリから来た場合にだけ、戻ってください。そうでなければ、このページを閉じてください。誰かがそこへ誘導しようとしているおそれがあります。',
    goBack: 'アプリに戻る',
  },
}
