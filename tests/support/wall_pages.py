"""Walls against robots, built as their services build them, and ordinary pages that look like walls."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Response:
    """A response of a server."""

    body: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "text/html; charset=utf-8"


def html(body: str, head: str = "", title: str = "") -> str:
    return f"<!DOCTYPE html><html><head><title>{title}</title>{head}</head><body>{body}</body></html>"


SAID = (
    "<p>Something about how this browser asked for the page made us think that a program sends the requests.</p><p>"
    "This may "
    "be because JavaScript is turned off, because cookies are not accepted, because an extension keeps scripts from "
    "running, "
    "or because very many pages were opened within a short time.</p><p>Please turn on JavaScript and cookies and "
    "load the "
    "page again to go on reading. If that does not help, write to the owner of the site and name the number below.</p>"
)
"""What the wordiest of them say."""
CLOUDFLARE = html(
    "<div class='main-wrapper' role='main'><div class='main-content'><noscript><div class='h2'><span "
    "id='challenge-error-text'>Enable JavaScript and cookies to continue</span></div></noscript></div></div>"
    "<script>(function(){window._cf_chl_opt={cvId:'3',cZone:'a.example',cType:'managed',cRay:'8f0c2d1e9a7b3c4d',"
    "cH:'Zk3.x1',cUPMDTk:'/?__cf_chl_tk=q'};var a=document.createElement('script');"
    "a.src='/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1?ray=8f0c2d1e9a7b3c4d';"
    "document.getElementsByTagName('head')[0].appendChild(a);}());</script>",
    "<meta name='robots' content='noindex,nofollow'><meta http-equiv='refresh' content='390'>",
    "Just a moment...",
)
IMPERVA = (
    "<!DOCTYPE html><html><head><noscript><title>Pardon Our Interruption</title></noscript><meta name='viewport' "
    "content='width=1000'><meta name='robots' content='noindex, nofollow'><script>var isSpaRequest=false;"
    "function showBlockPage(){document.title='Pardon Our Interruption';"
    "document.getElementById('interstitial-inprogress')"
    ".style.display='none'}window.reeseSkipExpirationCheck=true;window.onProtectionInitialized=function(protection){"
    "if(protection&&protection.cookieIsSet&&!protection.cookieIsSet()){showBlockPage();"
    "return}window.location.reload(true)};"
    "window.reeseRetriedAutoload=function(e){showBlockPage()};</script><script "
    "src='/A-Name-of-Words-that-Nobody-reads' "
    f"async></script></head><body><div class='container'><h1>Pardon Our Interruption...</h1>{SAID * 2}</div></body>"
    "</html>"
)
INCAPSULA = (
    '<html style="height:100%"><head><META NAME="ROBOTS" CONTENT="NOINDEX, NOFOLLOW"><meta name="viewport" '
    'content="initial-scale=1.0"></head><body style="margin:0px;height:100%"><iframe id="main-iframe" '
    'src="/_Incapsula_Resource?SWUDNSAI=31&xinfo=9-7-0%200NNN&incident_id=1012-93&edet=12&cinfo=0e" frameborder=0 '
    'width="100%">Request unsuccessful. Incapsula incident ID: 1012000-93</iframe></body></html>'
)
INCAPSULA_SCRIPT = (
    '<html><head><META NAME="robots" CONTENT="noindex,nofollow"><script src="/_Incapsula_Resource?'
    'SWJIYLWA=5074a744e2e3d891814e9a2dace20bd4,719d34d31c8e3a6e6fffd425f7e032f3"></script><body></body></html>'
)
DATADOME = (
    "<html lang='en'><head><title>a.example</title><style>#cmsg{animation: A 1.5s;}</style></head><body "
    "style='margin:0'>"
    "<p id='cmsg'>Please enable JS and disable any ad blocker</p><script data-cfasync='false'>var dd={'rt':'c',"
    "'cid':'AHrl',"
    "'hsh':'2F05','t':'fe','s':17434,'host':'geo.captcha-delivery.com','cookie':'x'}</script><script "
    "data-cfasync='false' "
    "src='https://ct.captcha-delivery.com/c.js'></script></body></html>"
)
AKAMAI_DENIED = (
    "<HTML><HEAD>\n<TITLE>Access Denied</TITLE>\n</HEAD><BODY>\n<H1>Access Denied</H1>\n \nYou don't have permission "
    "to "
    'access "http&#58;&#47;&#47;a&#46;example&#47;" on this server.<P>\nReference&#32;&#35;18&#46;2d351ab8&#46;'
    "1557\n<P>"
    "https&#58;&#47;&#47;errors&#46;edgesuite&#46;net&#47;18&#46;2d351ab8&#46;1557\n</P>\n</BODY>\n</HTML>\n"
)
AKAMAI_CHALLENGE = html(
    '<div id="sec-if-cpt-container" role="main"><div class="behavioral-content"><div id="sec-bc-text-container"></div>'
    '<p>Powered and protected by <img alt="Akamai"></p></div></div><script src="/Xy3Z/abc"></script>',
    '<script src="/_sec/cp_challenge/sec-cpt-4-5.js" async defer></script>',
    "Challenge Validation",
)
AKAMAI_INTERSTITIAL = html(
    "<script>var i=1732,j=i+Number('3'+'18');var xhr=new XMLHttpRequest();xhr.open('POST','/_sec/verify?"
    "provider=interstitial',false);</script>",
    '<meta http-equiv="refresh" content="5; URL=\'/?bm-verify=AAQAAAAJ_____x\'"/>',
    "&nbsp;",
)
PERIMETERX = html(
    '<div class="px-captcha-container"><h1>Before we continue...</h1><p>Press & Hold to confirm you are a human (and '
    "not a "
    'bot).</p><div id="px-captcha"></div><p>Reference ID 5d1c</p></div><script>window._pxVid="";window._pxUuid="5d1c";'
    "window._pxAppId='PX0a1b2c';window._pxHostUrl='/0a1b2c/xhr';</script>"
    "<script>var s=document.createElement('script');s.src='//captcha.px-cdn.net/PX0a1b2c/captcha.js?a=c&u=5d1c&v=&m=0';"
    "document.head.appendChild(s);</script>",
    '<meta name="description" content="px-captcha">',
    "Access to this page has been denied",
)
PERIMETERX_FIRST_PARTY = html(
    "<h1>Robot or human?</h1><p>Activate and hold the button to confirm that you're human.</p><script>"
    "window._pxAppId='PXu6b0qd2S';window._pxJsClientSrc='/px/PXu6b0qd2S/init.js';</script>"
    "<script src='/px/PXu6b0qd2S/captcha/captcha.js?a=c&m=0&u=1&v=2'></script>",
    title="Robot or human?",
)
ANUBIS = html(
    "<main><h1 id='title' class='centered-div'>Making sure you're not a bot!</h1><div class='centered-div'><img "
    "id='image' "
    "src='/.within.website/x/cmd/anubis/static/img/pensive.webp?cacheBuster=v1.21.3'><p id='status'>Loading...</p>"
    "<script "
    "async type='module' src='/.within.website/x/cmd/anubis/static/js/main.mjs?cacheBuster=v1.21.3'></script><details>"
    f"<p>Why am I seeing this?</p>{SAID}</details><noscript><p>Sadly, you must enable JavaScript to get past this "
    "challenge."
    "</p></noscript></div></main>",
    '<script id="anubis_version" type="application/json">"v1.21.3"</script><script id="anubis_challenge" '
    'type="application/json">{"rules":{"algorithm":"fast","difficulty":4},"challenge":"0d"}</script>',
    "Making sure you&#39;re not a bot!",
)
GO_AWAY = html(
    "<h1>Checking you are not a bot</h1><noscript><p>JavaScript is needed for this check.</p></noscript><script "
    "type='module' "
    "src='/.well-known/.git.gammaspectra.live/git/go-away/cmd/go-away/challenge/js-pow-sha256/asset/load.mjs"
    "?cacheBust=1'></script>"
)
AWS_CHALLENGE = (
    "<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title></title><script>window.awsWafCookieDomainList "
    "= [];"
    'window.gokuProps = {"key":"AQIDAH","iv":"CgAH","context":"Zz"};</script><script '
    "src='https://0a1b.2c3d.us-east-1.token.awswaf.com/0a1b/2c3d/4e5f/challenge.js'></script></head><body><div "
    "id='challenge-container'></div><script>AwsWafIntegration.saveReferrer();</script><noscript><h1>JavaScript is "
    "disabled"
    "</h1>In order to continue, we need to verify that you're not a robot.</noscript></body></html>"
)
KASADA = (
    "<!DOCTYPE html><html><head></head><body><script>window.KPSDK={};KPSDK.now=typeof performance!=='undefined'&&"
    "performance.now?performance.now.bind(performance):Date.now.bind(Date);KPSDK.start=KPSDK.now();</script><script "
    'src="/149e9513-01fa-4fb0-aad4-566afd725d1b/2d206a39-8ed7-437e-a3be-862e0f06eea3/ips.js?tkrm_alpekz_s1.3=0a">'
    "</script>"
    "</body></html>"
)
SUCURI = (
    "<html><title>You are being redirected...</title><noscript>Javascript is required. Please enable javascript "
    "before you "
    "are allowed to see this page.</noscript><script>var s={},u,c,U,r,i,l=0,a,e=eval,w=String.fromCharCode,"
    "sucuri_cloudproxy_js="
    "'',S='cz0i';L=S.length;U=0;r='';</script></html>"
)
SUCURI_DENIED = html(
    "<div id='main-container'><header class='app-header'><h1>Access Denied - Sucuri Website Firewall</h1></header><p>"
    "If you "
    "are the site owner, open a ticket or write to cloudproxy@sucuri.net.</p><table><tr><td>Block ID:</td><td>"
    "BOT001</td>"
    "</tr></table></div>",
    '<link rel="stylesheet" href="https://cdn.sucuri.net/sucuri-firewall-block.css">',
    "Sucuri WebSite Firewall - Access Denied",
)
DDOS_GUARD = html(
    "<h1>Checking your browser before accessing a.example</h1><p>Please wait a few seconds.</p>",
    "<script src='/.well-known/ddos-guard/js-challenge/index.js'></script>"
    "<script async src='https://check.ddos-guard.net/check.js'></script>",
    "DDoS-Guard",
)
VERCEL = html(
    "<div id='root'><p id='header-text'>We're verifying your browser</p><noscript>Enable JavaScript to "
    "continue</noscript>"
    "</div><script src='/.well-known/vercel/security/static/challenge.v2.min.js'></script>",
    title="Vercel Security Checkpoint",
)
FASTLY = html(
    "<noscript>JavaScript is disabled in your browser. Please enable JavaScript to proceed.</noscript><div "
    "id='loading-error'>"
    "A required part of this site couldn't load.</div><script src='/_fs-ch-1T1wmsGaOgGaSxcX/script.js'></script>",
    "<link href='/_fs-ch-1T1wmsGaOgGaSxcX/assets/styles.css' rel='stylesheet'>",
    "Client Challenge",
)
F5_REJECTED = (
    "<html><head><title>Request Rejected</title></head><body>The requested URL was rejected. Please consult with your "
    "administrator.<br><br>Your support ID is: 18342<br><br><a href='javascript:history.back();'>[Go Back]</a></body>"
    "</html>"
)
F5_SCRIPT = (
    '<html><head><meta http-equiv="Pragma" content="no-cache"/><script>\n(function(){\nwindow["bobcmn"] = '
    '"1011111010102000";'
    '\n})();\n</script><script src="/TSPD/08eeb285?type=7"></script><noscript>Please enable JavaScript to view the '
    "page "
    "content.<br/>Your support ID is: 18342.<br/></noscript></head><body></body></html>"
)
IMUNIFY = html(
    "<h1>Please wait while your request is being verified...</h1><form id='wsidchk-form' style='display:none;' "
    "action='/z0f76a1d14fd21a8fb5fd0d03e0fdc3d3cedae52f' method='GET'><input type='hidden' id='wsidchk' "
    "name='wsidchk'/>"
    "</form><script>(function(){var west=+((+!+[])+(+!+[]));})()</script>",
    "<meta name='robots' content='noindex, nofollow'>",
    "One moment, please...",
)
SITEGROUND = (
    '<html><head><link rel="icon" href="data:;"><meta http-equiv="refresh" content="0;/.well-known/sgcaptcha/?r=%2F&y='
    'ipr:192.0.2.7:1764300000.1"></meta></head></html>'
)
JIASULE = (
    "<script>document.cookie=('_')+('_')+('j')+('s')+('l')+('_')+('c')+'=1764';location.href=location.pathname</script>"
)
JIASULE_SECOND = (
    '<script>var _0x1f=["push"];function hash(x){return x};go({"bts":["1764300000.123|0|ab","d"],"chars":"xyz",'
    '"ct":"0f",'
    '"ha":"md5","tn":"__jsl_clearance_s","vt":"3600","wt":"1500"})</script>'
)
CHUANGYU = html(
    "<div class='main'><h1>405</h1><p>当前访问疑似黑客攻击，已被创宇盾拦截。</p><p>如果您是网站管理员，<a "
    "href='http://help.365cyd.com/cyd-error-help.html?code=405'>查看详情</a>。</p></div>",
    title="405",
)
RIVER = (
    "<!DOCTYPE html><html><head><meta charset='UTF-8'><meta id='9DhefwqGPrzG' content='{qqt!x' r='m'><script type="
    "'text/javascript' r='m'>$_ts=window['$_ts'];if(!$_ts)$_ts={};$_ts.nsd=52206;$_ts.cd=\"qtJDrpAltcLqlqVm\";"
    "if($_ts.lcd)$_ts.lcd();</script><script type='text/javascript' src='/vDpMZJkMNa8X/f1LlXq5VQzk5.0b1c2d3.js' r='m'>"
    "</script></head><body></body></html>"
)
ALIYUN_SCRIPT = (
    "<html><script>\nvar arg1='3FA1B2C3D4E5F60718293A4B5C6D7E8F90A1B2C3';var _0x4818=['csKHwqMI','ZsKJwr8V'];"
    "function setCookie(name,value){document.cookie=name+'='+value}function reload(x){setCookie('acw_sc__v2',x);"
    "document.location.reload()}</script></html>"
)
ALIYUN_SLIDER = (
    "<!doctypehtml><html><head><meta charset=utf-8><meta name='aliyun_waf_aa' content='0d1e'><title>"
    "滑动验证页面</title>"
    "<script src='https://o.alicdn.com/captcha-frontend/aliyunCaptcha/AliyunCaptcha.js'></script></head><body><div "
    "id='captcha-element'></div><p>访问验证，请按住滑块，拖动到最右边</p><meta name='aliyun_waf_bb' content='3'>"
    "</body></html>"
)
ALIYUN_DENIED = html(
    "<div data-spm='1998410538'><div class='header'><div class='message'>很抱歉，"
    "由于您访问的URL有可能对网站造成安全威胁，您的访问"
    "被阻断。<div>您的请求ID是: <strong>276aedd4</strong></div></div></div><img "
    "src='https://g.alicdn.com/sd-base/static/1.0.5/image/405.png'></div>",
    title="405",
)
X5SEC = (
    "<script>sessionStorage.x5referer = window.location.href;"
    "window.location.replace('https://a.example/list/_____tmd_____/"
    "punish?x5secdata=xg63&x5step=1');</script><!--rgv587_flag:sm-->"
)
TENCENT = "<html><script>window.location.href='https://waf.tencent.com/501page.html?u=http://a.example/&id=1f'</script></html>"
EDGEONE = (
    "<!DOCTYPE html><html><head></head><body><script>function a(x){return x}var b={WTKkN:1217,bOYDu:3318,wyeCN:981};"
    'document.cookie="__tst_status="+a(b.WTKkN+b.bOYDu)+"#;";document.cookie="EO_Bot_Ssid="+a(4127)+";";'
    'setTimeout(function(){location.href=location.href.replace(/[?|&]tads/,"")},1200)</script></body></html>'
)
BAIDU = html(
    "<div class='timeout hide-callback'><div class='timeout-img'></div><div class='timeout-title'>网络不给力，"
    "请稍后重试</div>"
    "<button type='button' class='timeout-button'>返回首页</button></div><div class='timeout-feedback'>问题反馈</div>"
    "<script "
    "src='https://ppui-static-wap.cdn.bcebos.com/static/touch/js/mkdjump_v2_fe9a7d3.js'></script>",
    title="百度安全验证",
)
SAFEDOG = html(
    "<div class='tips'><img src='http://404.safedog.cn/images/safedogsite/head.png'><p>您的请求带有不合法的参数，"
    "谢谢合作！</p>"
    "</div><iframe src='http://404.safedog.cn/sitedog_stat.html' style='display:none'></iframe>",
    title="网站防火墙",
)
SAFELINE = (
    "<!doctype html><html lang='zh'><head><meta charset='utf-8'><link rel='icon' href='/.safeline/static/favicon.png' "
    "type='image/png'><title id='slg-title'></title></head><body><div id='slg-bg'></div><div id=\"slg-box\"></div>"
    "<script>"
    "window.product_data={self:false};</script><script>SafeLineChallenge('0a1b2c',{level:1})</script></body></html>"
)
QI360 = html(
    "<p>请完成安全验证</p><form action='/wzws-waf-cgi/verify' method='post'></form><img "
    "src='/wzws-waf-cgi/wzblogo.png'>",
    title="网站防火墙",
)
YUNSUO = (
    '<html><head><script>var cookie_date=1;function stringToHex(str){return ""+str}function YunSuoAutoJump(){var width='
    'screen.width;var screendate=width+","+screen.height;'
    'self.location="/?security_verify_data="+stringToHex(screendate)}'
    '</script><script>setTimeout("YunSuoAutoJump()",50)</script></head></html>'
)
TURNSTILE = html(
    "<h1>a.example</h1><p>Please confirm that you are human to go on.</p><form method='post'><div class='cf-turnstile' "
    "data-sitekey='0x4A'></div><input type='hidden' name='next' value='/'><button>Go on</button></form>",
    "<script src='https://challenges.cloudflare.com/turnstile/v0/api.js' async defer></script>",
)
HCAPTCHA = html(
    "<p>为了保护网站，请完成下面的验证后继续访问。</p><div class='h-captcha' data-sitekey='10000000-ffff'></div>",
    "<script src='https://js.hcaptcha.com/1/api.js' async defer></script>",
    "人机验证",
)
RECAPTCHA = html(
    "<form id='captcha-form' action='index' method='post'><div id='recaptcha' class='g-recaptcha' data-sitekey='6Lf'>"
    "</div>"
    "<input type='hidden' name='q' value='EgQ'></form><div>Our systems have detected unusual traffic from your "
    "network.</div>",
    "<script src='https://www.google.com/recaptcha/api.js' async defer></script>",
)

WALLS: dict[str, tuple[str, Response]] = {
    "cloudflare 403": ("Cloudflare", Response(CLOUDFLARE, 403, {"cf-mitigated": "challenge", "Server": "cloudflare"})),
    "cloudflare 200": ("Cloudflare", Response(CLOUDFLARE, 200, {"Server": "cloudflare"})),
    "cloudflare 503, old": (
        "Cloudflare",
        Response(
            html("<div class='cf-browser-verification cf-im-under-attack'><h1>Checking your browser</h1></div>"), 503
        ),
    ),
    "cloudflare 1020": (
        "Cloudflare",
        Response(html("<div id='cf-error-details' class='cf-error-details-wrapper'><h1>Access denied</h1></div>"), 403),
    ),
    "imperva 200": ("Imperva", Response(IMPERVA)),
    "incapsula 200": ("Imperva", Response(INCAPSULA, 200, {"X-Iinfo": "9-7-0 0NNN"})),
    "incapsula 403": ("Imperva", Response(INCAPSULA, 403, {"X-CDN": "Imperva"})),
    "incapsula script": ("Imperva", Response(INCAPSULA_SCRIPT)),
    "datadome": ("DataDome", Response(DATADOME, 403, {"x-datadome": "protected", "X-DD-B": "2"})),
    "datadome 200": ("DataDome", Response(DATADOME)),
    "datadome json": (
        "DataDome",
        Response(
            '{"url":"https://geo.captcha-delivery.com/captcha/?initialCid=A"}', 403, {"X-DD-B": "1"}, "application/json"
        ),
    ),
    "akamai denied": ("Akamai", Response(AKAMAI_DENIED, 403, {"Server": "AkamaiGHost"})),
    "akamai denied, no header": ("Akamai", Response(AKAMAI_DENIED, 403)),
    "akamai challenge": ("Akamai", Response(AKAMAI_CHALLENGE)),
    "akamai challenge 428": ("Akamai", Response(AKAMAI_CHALLENGE, 428)),
    "akamai interstitial": ("Akamai", Response(AKAMAI_INTERSTITIAL)),
    "perimeterx": ("PerimeterX", Response(PERIMETERX, 403)),
    "perimeterx, first party": ("PerimeterX", Response(PERIMETERX_FIRST_PARTY)),
    "anubis": ("Anubis", Response(ANUBIS)),
    "go-away": ("go-away", Response(GO_AWAY, 418)),
    "aws 202": ("AWS WAF", Response(AWS_CHALLENGE, 202, {"x-amzn-waf-action": "challenge"})),
    "aws 405": ("AWS WAF", Response("", 405, {"x-amzn-waf-action": "captcha"})),
    "aws, no header": ("AWS WAF", Response(AWS_CHALLENGE, 202)),
    "kasada": ("Kasada", Response(KASADA, 429, {"x-kpsdk-ct": "0a"})),
    "sucuri": ("Sucuri", Response(SUCURI, 200, {"Server": "Sucuri/Cloudproxy"})),
    "sucuri denied": ("Sucuri", Response(SUCURI_DENIED, 403, {"X-Sucuri-Block": "BOT001"})),
    "ddos-guard": ("DDoS-Guard", Response(DDOS_GUARD, 403, {"Server": "ddos-guard"})),
    "vercel": ("Vercel", Response(VERCEL, 429, {"x-vercel-mitigated": "challenge", "Server": "Vercel"})),
    "vercel denied": ("Vercel", Response("<p>Forbidden</p>", 403, {"x-vercel-mitigated": "deny"})),
    "fastly": ("Fastly", Response(FASTLY)),
    "f5 rejected": ("F5", Response(F5_REJECTED)),
    "f5 script": ("F5", Response(F5_SCRIPT)),
    "radware": ("Radware", Response("", 302, {"Location": "https://validate.perfdrive.com/0a1b/captcha?ssa=1"})),
    "imunify360": ("Imunify360", Response(IMUNIFY, 200, {"Server": "imunify360-webshield/1.21"})),
    "siteground": ("SiteGround", Response(SITEGROUND, 202, {"SG-Captcha": "challenge"})),
    "siteground, no header": ("SiteGround", Response(SITEGROUND, 202)),
    "jiasule": (
        "Jiasule",
        Response(JIASULE, 521, {"Set-Cookie": "__jsluid_s=0a1b; max-age=31536000; path=/; HttpOnly"}),
    ),
    "jiasule, second": ("Jiasule", Response(JIASULE_SECOND, 521)),
    "chuangyu": ("Chuangyu", Response(CHUANGYU, 405)),
    "river security 412": ("River Security", Response(RIVER, 412, {"Set-Cookie": "NfBCSins2OywS=60a1; Path=/"})),
    "river security 202": ("River Security", Response(RIVER, 202)),
    "aliyun script": ("Alibaba Cloud WAF", Response(ALIYUN_SCRIPT, 200, {"Set-Cookie": "acw_tc=0a1b; path=/"})),
    "aliyun slider": ("Alibaba Cloud WAF", Response(ALIYUN_SLIDER)),
    "aliyun denied": ("Alibaba Cloud WAF", Response(ALIYUN_DENIED, 405)),
    "x5sec": ("Alibaba x5sec", Response(X5SEC)),
    "x5sec redirect": (
        "Alibaba x5sec",
        Response("", 302, {"Location": "https://a.example/list/_____tmd_____/punish?x5secdata=xg63"}),
    ),
    "tencent": ("Tencent Cloud WAF", Response(TENCENT)),
    "edgeone": ("EdgeOne", Response(EDGEONE)),
    "baidu": ("Baidu", Response(BAIDU)),
    "baidu redirect": (
        "Baidu",
        Response("", 302, {"Location": "https://wappass.baidu.com/static/captcha/tuxing_v2.html?&l"}),
    ),
    "safedog": ("Safedog", Response(SAFEDOG)),
    "safeline": ("SafeLine", Response(SAFELINE, 468)),
    "360": ("360", Response(QI360, 493)),
    "yunsuo": ("Yunsuo", Response(YUNSUO)),
    "turnstile": ("Turnstile", Response(TURNSTILE)),
    "hcaptcha": ("hCaptcha", Response(HCAPTCHA)),
    "recaptcha": ("reCAPTCHA", Response(RECAPTCHA, 429)),
}
"""The service and the response of each wall."""

BEES = (
    "The keeper of the hive wrote down each morning what the bees had brought home the day before, and how heavy the "
    "combs had become since the lime trees were in flower."
)
ARTICLE = "".join(
    f"<p>{BEES} That was the {which} year of the book.</p>" for which in ("first", "second", "third", "fourth")
)
KEPT: dict[str, Response] = {
    "article about captchas": Response(
        html(
            "<h1>Why Cloudflare asks whether you are human</h1><p>Just a moment... Checking your browser before "
            "accessing "
            "the site: everybody knows these words. DataDome, Imperva's Pardon Our Interruption and Akamai's Access "
            "Denied "
            "say the same, and ask readers to enable JavaScript and cookies to continue.</p><p>A captcha is a puzzle "
            "that "
            "people solve more easily than programs. It was named in 2003 after the test of Turing.</p>",
            title="Just a moment: verify you are human",
        )
    ),
    "help to enable JavaScript": Response(
        html(
            "<h1>How to enable JavaScript in your browser</h1><ol><li>Open the settings.</li><li>Choose Privacy and "
            "then "
            "Site settings.</li><li>Turn JavaScript on, and load the page again.</li></ol>",
            title="Please enable JavaScript",
        )
    ),
    "cloudflare beacon": Response(
        html(
            f"<article><h1>The bees</h1><p>{BEES}</p></article><script>"
            "(function(){window['__CF$cv$params']={r:'8f0c',"
            "t:'MTc2'};var a=document.createElement('script');a.src='/cdn-cgi/challenge-platform/scripts/jsd/main.js';"
            "document.head.appendChild(a)})();</script>"
        ),
        200,
        {"Server": "cloudflare", "CF-RAY": "8f0c"},
    ),
    "akamai pixel": Response(
        html(f"<p>{BEES}</p><img src='/akam/13/pixel_0a1b2c' alt=''><script src='/akam/13/0a1b2c' defer></script>"),
        200,
        {"Server": "AkamaiGHost"},
    ),
    "perimeterx sensor": Response(
        html(
            f"<p>{BEES}</p><script>window._pxAppId='PX0a1b2c'</script><script "
            "src='//client.px-cdn.net/PX0a1b2c/main.min.js'></script>"
        )
    ),
    "datadome tag": Response(
        html(
            f"<p>{BEES}</p><script>window.ddjskey='0A1B';</script><script src='https://js.datadome.co/tags.js'>"
            "</script>"
        ),
        200,
        {"X-DataDome": "protected"},
    ),
    "incapsula script of an ordinary page": Response(
        html(
            f"<p>{BEES}</p><script src='/_Incapsula_Resource?SWJIYLWA=719d34d31c8e3a6e6fffd425f7e032f3&ns=1&cb=2'>"
            "</script>"
        ),
        200,
        {"X-Iinfo": "9-7-0"},
    ),
    "aws integration": Response(
        html(f"<p>{BEES}</p><script src='https://0a1b.us-east-1.sdk.awswaf.com/0a1b/challenge.js' defer></script>")
    ),
    "fastly sensor": Response(html(f"<script src='/_fs-ch-1T1wmsGaOgGaSxcX/fs.js'></script>{ARTICLE * 4}")),
    "river security, the page": Response(RIVER.replace("<body></body>", f"<body><p>{BEES}</p></body>")),
    "documentation that quotes marks": Response(
        html(
            "<h1>Tell a challenge</h1><p>The source of a challenge has these marks.</p><pre>if "
            "(html.includes('_cf_chl_opt'))"
            " wait();\nif (html.includes('/.within.website/x/cmd/anubis/')) wait();\nwindow.gokuProps = {}</pre>"
        )
    ),
    "contact form with reCAPTCHA": Response(
        html(
            "<h1>Write to us</h1><p>We answer each letter.</p><form><input name='mail' type='email'>"
            "<textarea name='text'></textarea><div "
            "class='g-recaptcha' data-sitekey='6Lf'></div><button>Send</button></form>",
            "<script src='https://www.google.com/recaptcha/api.js'></script>",
        )
    ),
    "comment form with Turnstile": Response(
        html(
            f"<article><p>{BEES}</p></article><form action='/wp-comments-post.php'><textarea name='comment'>"
            "</textarea><div "
            "class='cf-turnstile' data-sitekey='0x4A'></div><input type='submit'></form>",
            "<script src='https://challenges.cloudflare.com/turnstile/v0/api.js'></script>",
        )
    ),
    "application that loads reCAPTCHA": Response(
        html(
            "<div id='root'></div><script src='/app.js'></script>",
            "<script src='https://www.google.com/recaptcha/api.js?render=6Lf'></script>",
        )
    ),
}
"""Ordinary pages with words, scripts or marks of walls."""
FAILED: dict[str, Response] = {
    "nginx 403": Response(
        "<html><head><title>403 Forbidden</title></head><body><center><h1>403 Forbidden</h1></center><hr><center>"
        "nginx</center></body></html>",
        403,
    ),
    "nginx 503": Response(
        "<html><head><title>503 Service Temporarily Unavailable</title></head><body><center>nginx</center></body>"
        "</html>",
        503,
    ),
    "403 of a site behind Cloudflare": Response(KEPT["cloudflare beacon"].body, 403, {"Server": "cloudflare"}),
    "503 of Akamai": Response(
        "<html><head><title>Service Unavailable</title></head><body>DNS failure</body></html>",
        503,
        {"Server": "AkamaiGHost"},
    ),
    "502 of SafeLine": Response(
        "<html><head><link rel='icon' href='/.safeline/static/favicon.ico'></head><body><h1>502</h1></body></html>", 502
    ),
    "521 of Cloudflare": Response(
        html("<div id='cf-error-details'><h1>Web server is down</h1></div>"), 521, {"Server": "cloudflare"}
    ),
    "404 with a sensor": Response(html("<p>Nothing is here.</p><script>window._pxAppId='PX0a'</script>"), 404),
    "402": Response("<p>Pay.</p>", 402, {"crawler-price": "USD 0.01", "Server": "cloudflare"}),
}
"""Responses that refuse, but are no walls."""
