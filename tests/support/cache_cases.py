"""ModelCaches that the API accepts, and others that it refuses, with the field and the words that their user reads."""

from __future__ import annotations

from tests.support.samples import CACHE, edited, of

HUB = "spec.huggingFace"
BUCKET = of(
    "ModelCache",
    {
        "source": "S3",
        "s3": {
            "bucket": "models",
            "prefix": "qwen3/8b",
            "endpoint": "https://minio.example.org:9000",
            "region": "eu-central-1",
            "include": ["*.safetensors", "tokenizer/"],
            "exclude": ["*.bin"],
            "authSecret": {"name": "minio"},
            "servedModelName": "Qwen/Qwen3-8B",
            "sizeGiB": 20,
        },
        "proxy": {
            "httpsProxy": "http://proxy.example.org:3128",
            "httpProxy": "http://192.0.2.1:3128/",
            "noProxy": ".example.org, 10.0.0.5,minio:9000",
            "caBundle": {"configMapRef": {"name": "authorities", "key": "bundle.pem"}},
        },
    },
)
CLAIMS = of(
    "ModelCache",
    {
        "source": "PersistentVolumeClaim",
        "persistentVolumeClaim": {
            "claims": [
                {"clusterSelector": {"matchLabels": {"site": "a"}}, "claimName": "weights.a", "subPath": "qwen3/8b"},
                {"claimName": "weights"},
            ],
            "servedModelName": "qwen3",
        },
    },
)
SOME_HOST = "an http or https URL with a host, without user, password, query or fragment (1 to 2048 characters)"
SOME_PROXY = (
    "an http or https URL of a proxy's host and port, without user and password; put a URL with them into a Secret, and"
    " name it in secretRef (1 to 512 characters)"
)
SOME_HOSTS = (
    "host names, domains such as .example.org, and IPv4 addresses, with commas between them; clients of the hub and of"
    " S3 understand no address ranges and no wildcards (1 to 2048 characters)"
)
SOME_PATH = "a relative path without empty, . or .. parts, a backslash or $ (1 to 512 characters)"
SOME_PATTERN = (
    "a pattern of paths such as *-Q4_K_M.gguf or tokenizer/*, without a slash at its start, a backslash or $ (1 to 256"
    " characters)"
)

GOOD = {
    "a bucket": BUCKET,
    "a public bucket with nothing else": of("ModelCache", {"source": "S3", "s3": {"bucket": "b-1", "sizeGiB": 1}}),
    "claims": CLAIMS,
    "one file of a repository": edited(CACHE, f"{HUB}.include", ["*-Q4_K_M.gguf", "模型 1/*"]),
    "a mirror of the hub": edited(CACHE, f"{HUB}.endpoint", "https://hub.example.org/api/hf"),
    "proxies from a Secret": edited(CACHE, "spec.proxy", {"secretRef": {"name": "proxy"}, "noProxy": "localhost"}),
    "certificates alone": edited(CACHE, "spec.proxy", {"caBundle": {"configMapRef": {"name": "authorities"}}}),
    "a prefix that ends with a slash": edited(BUCKET, "spec.s3.prefix", "qwen3/..8b/"),
}

BAD = {
    "a source of another cloud": (
        edited(CACHE, "spec.source", "GCS"),
        'spec.source: must be one of HuggingFace, S3, PersistentVolumeClaim, not "GCS"',
    ),
    "a source with the block of another": (
        edited(CACHE, "spec.s3", BUCKET["spec"]["s3"]),
        "spec.s3: s3 is only for source S3",
    ),
    "S3 without its block": (edited(BUCKET, "spec.s3"), "spec.s3: source S3 needs s3"),
    "PersistentVolumeClaim without its block": (
        edited(CLAIMS, "spec.persistentVolumeClaim"),
        "spec.persistentVolumeClaim: source PersistentVolumeClaim needs persistentVolumeClaim",
    ),
    "a pattern that starts at the root": (
        edited(CACHE, f"{HUB}.include", ["*.json", "/model.gguf"]),
        f'spec.huggingFace.include[1]: must be {SOME_PATTERN}, not "/model.gguf"',
    ),
    "a pattern with a variable": (
        edited(CACHE, f"{HUB}.exclude", ["$(HF_TOKEN)"]),
        f'spec.huggingFace.exclude[0]: must be {SOME_PATTERN}, not "$(HF_TOKEN)"',
    ),
    "an empty pattern": (
        edited(BUCKET, "spec.s3.include", [""]),
        f'spec.s3.include[0]: must be {SOME_PATTERN}, not ""',
    ),
    "a pattern that is no list": (
        edited(CACHE, f"{HUB}.include", "*.gguf"),
        "spec.huggingFace.include: must be a list, not a string",
    ),
    "too many patterns": (
        edited(CACHE, f"{HUB}.include", ["*"] * 33),
        "spec.huggingFace.include: must have at most 32 items, not 33",
    ),
    "a mirror with a password": (
        edited(CACHE, f"{HUB}.endpoint", "https://user:hunter2@hub.example.org"),
        f"spec.huggingFace.endpoint: must be {SOME_HOST}",
    ),
    "a store without a scheme": (
        edited(BUCKET, "spec.s3.endpoint", "minio.example.org:9000"),
        f"spec.s3.endpoint: must be {SOME_HOST}",
    ),
    "a bucket that is a URL": (
        edited(BUCKET, "spec.s3.bucket", "s3://models"),
        'spec.s3.bucket: must be the name of a bucket (3 to 255 characters), not "s3://models"',
    ),
    "a prefix that climbs": (
        edited(BUCKET, "spec.s3.prefix", "a/../b"),
        f'spec.s3.prefix: must be {SOME_PATH}, not "a/../b"',
    ),
    "a prefix from the root": (
        edited(BUCKET, "spec.s3.prefix", "/models"),
        f'spec.s3.prefix: must be {SOME_PATH}, not "/models"',
    ),
    "a bucket without a size": (edited(BUCKET, "spec.s3.sizeGiB"), "spec.s3.sizeGiB: is required"),
    "no claims": (
        edited(CLAIMS, "spec.persistentVolumeClaim.claims", []),
        "spec.persistentVolumeClaim.claims: must have at least 1 item, not 0",
    ),
    "a claim without a name": (
        edited(CLAIMS, "spec.persistentVolumeClaim.claims.1", {"subPath": "a"}),
        "spec.persistentVolumeClaim.claims[1].claimName: is required",
    ),
    "a directory that leaves its volume": (
        edited(CLAIMS, "spec.persistentVolumeClaim.claims.0.subPath", "../other"),
        f'spec.persistentVolumeClaim.claims[0].subPath: must be {SOME_PATH}, not "../other"',
    ),
    "a proxy for what is not downloaded": (
        edited(CLAIMS, "spec.proxy", {"httpsProxy": "http://proxy.example.org:3128"}),
        "spec.proxy: proxy is only for a source that is downloaded",
    ),
    "a proxy of nothing": (
        edited(CACHE, "spec.proxy", {"noProxy": "localhost"}),
        "spec.proxy: proxy needs httpsProxy, httpProxy, secretRef or caBundle",
    ),
    "a proxy with a password": (
        edited(CACHE, "spec.proxy", {"httpsProxy": "http://user:hunter2@proxy.example.org:3128"}),
        f"spec.proxy.httpsProxy: must be {SOME_PROXY}",
    ),
    "a proxy that is no http": (
        edited(CACHE, "spec.proxy", {"httpProxy": "socks5://proxy.example.org:1080"}),
        f"spec.proxy.httpProxy: must be {SOME_PROXY}",
    ),
    "proxies in two places": (
        edited(CACHE, "spec.proxy", {"httpsProxy": "http://proxy.example.org:3128", "secretRef": {"name": "proxy"}}),
        (
            "spec.proxy.secretRef: secretRef holds the URLs of the proxies; httpsProxy and httpProxy cannot be set"
            " beside it"
        ),
    ),
    "an address range without a proxy": (
        edited(BUCKET, "spec.proxy.noProxy", "localhost,10.0.0.0/8"),
        f'spec.proxy.noProxy: must be {SOME_HOSTS}, not "localhost,10.0.0.0/8"',
    ),
    "a wildcard without a proxy": (
        edited(BUCKET, "spec.proxy.noProxy", "*.example.org"),
        f'spec.proxy.noProxy: must be {SOME_HOSTS}, not "*.example.org"',
    ),
    "a name that is a sentence": (
        edited(BUCKET, "spec.s3.servedModelName", "my model"),
        'spec.s3.servedModelName: must be a model\'s name, such as Qwen/Qwen3-8B (1 to 253 characters), not "my model"',
    ),
}
